//! The word of a quota compared with its plain contents: for all values of the short fields, and the borders of the long ones.

use super::{Account, EVIDENCE, FIRST, FIRST_CONGESTED, FLOOR, RETRY, STREAK, SUCCESSES_PER_FAILURE, Word};

/// The largest amounts that fit.
const MOST_MISSING: u32 = (1 << 21) - 1;
const MOST_ATTEMPTS: u32 = (1 << 26) - 1;

const MISSING: [u32; 16] = [
    0,
    1,
    FIRST - 1,
    FIRST,
    FIRST + 1,
    FIRST_CONGESTED,
    RETRY - 1,
    RETRY,
    RETRY + 1,
    EVIDENCE - 1,
    EVIDENCE,
    EVIDENCE + 1,
    1 << 20,
    MOST_MISSING - RETRY,
    MOST_MISSING - 1,
    MOST_MISSING,
];
const ATTEMPTS: [u32; 6] = [0, 1, 2, 1 << 25, MOST_ATTEMPTS - 1, MOST_ATTEMPTS];

/// All contents with these numbers, in words. Those that forget the failures are left out: their words have other contents.
fn words() -> impl Iterator<Item = (Account, Word)> {
    let short = (0..=STREAK).flat_map(|score| (0..=STREAK).map(move |successes| (score, successes)));
    let flags = (0..8_u32).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0));
    let accounts = short.flat_map(move |(score, successes)| {
        flags.clone().flat_map(move |(is_proven, has_helped, is_congested)| {
            ATTEMPTS.into_iter().flat_map(move |attempts| {
                MISSING.into_iter().map(move |missing| Account {
                    attempts,
                    missing,
                    score,
                    successes,
                    is_proven,
                    has_helped,
                    is_congested,
                })
            })
        })
    });
    accounts.filter(|account| forgetting(*account) == *account).map(|account| (account, account.word()))
}

/// The contents after the failures were forgotten.
fn settled(is_congested: bool) -> Account {
    Account { score: SUCCESSES_PER_FAILURE, is_proven: true, is_congested, ..Account::default() }
}

/// Forgets the failures if nothing is missing after 32 successes.
fn forgetting(account: Account) -> Account {
    let is_over = account.is_proven && account.missing == 0 && account.successes == STREAK;
    if is_over { settled(account.is_congested) } else { account }
}

/// The contents after a success that gives back this amount.
fn given(account: Account, gain: u32, helps: bool) -> Account {
    forgetting(Account {
        attempts: if account.attempts == MOST_ATTEMPTS { 0 } else { account.attempts + 1 },
        missing: account.missing.saturating_sub(gain),
        successes: (account.successes + 1).min(STREAK),
        has_helped: account.has_helped || helps,
        ..account
    })
}

// Rules Q12, Q13, Q14.
#[test]
fn all_words_keep_their_contents_and_forget_failures_only_after_a_streak() {
    for (account, word) in words() {
        assert_eq!(word.account(), account);
        assert!(!word.is_settled());
        assert_eq!(word.is_plain(), account.attempts > 0 && account.is_proven && !account.is_congested);
        assert_eq!(word.with_peers().account(), account);
        assert!(!word.with_peers().is_plain());
    }
    for (score, attempts) in (0..=STREAK).flat_map(|score| ATTEMPTS.map(|attempts| (score, attempts))) {
        for is_congested in [true, false] {
            let rest = Account { is_proven: true, is_congested, ..Account::default() };
            let word = Account { score, attempts, successes: STREAK, ..rest }.word();
            assert_eq!((word.account(), word.is_settled()), (settled(is_congested), true));
        }
    }
}

// Rule B6.
#[test]
fn amounts_that_do_not_fit_saturate_and_change_no_other_field() {
    let none = Account { is_proven: true, ..Account::default() };
    for over in [1, 2, 1 << 10, u32::MAX - MOST_ATTEMPTS] {
        let attempts = Account { attempts: MOST_ATTEMPTS + over, ..none };
        assert_eq!(attempts.word().account(), Account { attempts: MOST_ATTEMPTS, ..none });
        let missing = Account { missing: MOST_MISSING + over, ..none };
        assert_eq!(missing.word().account(), Account { missing: MOST_MISSING, ..none });
        let score = Account { score: STREAK + over, ..none };
        assert_eq!(score.word().account(), Account { score: STREAK, ..none });
        let successes = Account { successes: STREAK + over, missing: 1, ..none };
        assert_eq!(successes.word().account(), Account { successes: STREAK, missing: 1, ..none });
    }
}

// Rules Q13, Q14.
#[test]
fn successes_change_all_words_as_plain_numbers() {
    for (account, word) in words() {
        for is_first in [true, false] {
            let gain = match (is_first, account.is_congested) {
                (true, false) => FIRST,
                (true, true) => FIRST_CONGESTED,
                (false, false) => EVIDENCE,
                (false, true) => 0,
            };
            let expected = if account.is_proven {
                given(account, gain, !is_first && !account.is_congested)
            } else {
                settled(account.is_congested)
            };
            assert_eq!(word.succeeded(is_first).account(), expected, "{account:?}, {is_first}");
            assert_eq!(word.surplus(is_first), gain - gain.min(account.missing), "{account:?}, {is_first}");
            let plainly = word.is_plain().then_some(expected);
            assert_eq!(word.succeeded_plainly(is_first).map(Word::account), plainly, "{account:?}, {is_first}");
        }
    }
}

// Rules Q4, Q11.
#[test]
fn a_retry_that_was_not_sent_gives_back_at_most_what_is_missing() {
    for (account, word) in words() {
        for amount in [0, 1, RETRY - 1, RETRY, RETRY + 1, MOST_MISSING, u32::MAX] {
            let expected = forgetting(Account { missing: account.missing.saturating_sub(amount), ..account });
            assert_eq!(word.given_back(amount).account(), expected, "{account:?}, {amount}");
        }
    }
}

// Rules Q12, Q14, Q18.
#[test]
fn a_retry_is_paid_from_the_floor_if_at_most_one_is_missing() {
    for (account, word) in words() {
        let score = (account.score + account.successes).min(STREAK).saturating_sub(SUCCESSES_PER_FAILURE);
        let expected = Account {
            attempts: if account.attempts == MOST_ATTEMPTS { 0 } else { account.attempts + 1 },
            missing: account.missing + RETRY,
            score,
            successes: 0,
            ..account
        };
        let is_paid = word.is_plain() && account.missing + RETRY <= FLOOR;
        assert_eq!(word.paid_from_floor().map(Word::account), is_paid.then_some(expected), "{account:?}");
    }
}
