//! Operations that wait for the service are sent as the successes of all processes allow.

use crate::millis::{At, at};
use crate::random::Random;
use retry_config::RetryConfig;
use retry_core::limit::Ready;
use retry_core::quota::EvidenceQuota;
use retry_core::strategy::PatientRetryToken;
use retry_core::{
    Failure, PatientRetryStrategy, RetryDirective, RetryErrorType, RetryQuota, RetryStrategy, RetryToken, Success,
};
use retry_fleet::Member;
use retry_fleet::protocol::{Call, LineCall, LineReply, Reply};
use retry_fleet::store::MemoryStore;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A process with a patient strategy, whose times are milliseconds.
struct Process {
    strategy: Arc<PatientRetryStrategy>,
    member: Member,
}

impl Process {
    fn new(id: &str, now: u64) -> Self {
        let strategy = Arc::new(PatientRetryStrategy::new().seed(1));
        let process = Self { member: Member::new("orders", id, at(now)).patient(Arc::clone(&strategy)), strategy };
        process.succeeds(now);
        process
    }

    fn begins(&self, now: u64) -> PatientRetryToken {
        let mut token = self.strategy.acquire_initial_token(&At(now)).unwrap();
        assert_eq!(self.strategy.ready(&mut token, &At(now), None), Ready::Now);
        token
    }

    /// A call succeeds, in 10 ms.
    fn succeeds(&self, now: u64) {
        self.strategy.record_success(self.begins(now), &Success::default(), &At(now + 10)).unwrap();
    }

    /// Returns a call that fails and waits for the service.
    fn waits(&self, now: u64) -> PatientRetryToken {
        while self.strategy.quota().pay(1, RetryErrorType::Other, &At(now)).is_some() {}
        let failure = Failure::from_directive(RetryDirective::retry(RetryErrorType::ServerSide));
        let mut token = self.strategy.refresh_retry_token(self.begins(now), &failure, &At(now)).unwrap();
        assert!(!self.is_sent(&mut token, now));
        token
    }

    fn is_sent(&self, token: &mut PatientRetryToken, now: u64) -> bool {
        self.strategy.ready(token, &At(now), None) == Ready::Now
    }

    fn call(&mut self, now: u64, store: &mut MemoryStore) -> Reply {
        let call = self.member.call(at(now), false);
        let reply = store.call(now, &call);
        self.member.answered(at(now), &reply);
        reply
    }
}

/// Returns the part of a call of a process whose operations have waited for a second.
fn line_call(waiting: u32, spare: u64) -> LineCall {
    LineCall { waiting, longest_wait: Duration::from_secs(1), spare }
}

/// A store, and the process `p` that calls it, with the total number of sends that it has given to others, in halves.
#[derive(Default)]
struct Exchange {
    store: MemoryStore,
    spare: u64,
}

impl Exchange {
    /// The process gives this many sends more, and gets the reply. Its operations have waited for a second.
    fn call(&mut self, now: u64, waiting: u32, spare: u64) -> LineReply {
        self.spare += 2 * spare;
        self.repeat(now, line_call(waiting, self.spare))
    }

    fn repeat(&mut self, now: u64, line: LineCall) -> LineReply {
        self.repeat_with(now, line, 3)
    }

    fn repeat_with(&mut self, now: u64, line: LineCall, ttl: u64) -> LineReply {
        let mut call = Call::new("p", "fresh");
        (call.line, call.ttl) = (Some(line), Duration::from_secs(ttl));
        self.store.call(now, &call).line.unwrap()
    }
}

// Rule F49.
#[test]
fn successes_of_one_process_send_the_operations_of_another() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let (mut waiting, mut healthy) = (Process::new("waiting", now), Process::new("healthy", now));
    let [mut first, mut second, mut third] = [(); 3].map(|()| waiting.waits(now));
    waiting.call(now, &mut store);
    healthy.call(now, &mut store);
    (0..4).for_each(|_| healthy.succeeds(now));
    healthy.call(now + 100, &mut store);
    let sent =
        |waiting: &Process, tokens: [&mut PatientRetryToken; 2]| tokens.map(|token| waiting.is_sent(token, now + 100));
    assert_eq!(sent(&waiting, [&mut first, &mut second]), [false, false]);
    waiting.call(now + 100, &mut store);
    assert_eq!(sent(&waiting, [&mut first, &mut second]), [true, true], "one for two successes");
    assert!(!waiting.is_sent(&mut third, now + 100));
}

// Rules F49, F50.
#[test]
fn without_the_store_successes_are_kept_for_nobody() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let (mut waiting, mut healthy) = (Process::new("waiting", now), Process::new("healthy", now));
    let _token = waiting.waits(now);
    waiting.call(now, &mut store);
    healthy.call(now, &mut store);
    (0..4).for_each(|_| healthy.succeeds(now));
    healthy.member.unanswered(at(now), &"no answer");
    assert_eq!(healthy.member.call(at(now), false).line, Some(LineCall::default()));
    // The next answer says that an operation waits.
    healthy.call(now, &mut store);
    (0..4).for_each(|_| healthy.succeeds(now));
    let leaves = healthy.member.call(at(now), true);
    assert_eq!(leaves.line, Some(LineCall { spare: 4, ..LineCall::default() }));
    (0..4).for_each(|_| healthy.succeeds(now));
    assert_eq!(healthy.strategy.take_spare_halves(&At(now)), 0, "it has left");
    let leaves = waiting.member.call(at(now), true);
    assert_eq!(leaves.line, Some(LineCall::default()), "nobody would take what is granted");
}

// Rules F49, U24.
#[test]
fn a_process_that_is_cut_off_by_itself_waits_until_it_is_not() {
    let (mut store, start) = (MemoryStore::new(), 10_000);
    let (mut cut_off, mut healthy) = (Process::new("cut off", start), Process::new("healthy", start));
    let (mut token, mut attempts, mut backs_off_until) = (cut_off.waits(start), 1, start);
    for now in (start..start + 15_000).step_by(10) {
        healthy.succeeds(now);
        for process in [&mut cut_off, &mut healthy] {
            if process.member.next_call_at() <= at(now) {
                process.call(now, &mut store);
            }
        }
        if now < backs_off_until || !cut_off.is_sent(&mut token, now) {
            continue;
        }
        attempts += 1;
        if now >= start + 10_000 {
            assert!((5..=7).contains(&attempts), "{attempts} attempts");
            return;
        }
        let failure = Failure::from_directive(RetryDirective::retry(RetryErrorType::ServerSide));
        token = cut_off.strategy.refresh_retry_token(token, &failure, &At(now)).unwrap();
        backs_off_until = now + u64::try_from(token.delay().as_millis()).unwrap();
    }
    panic!("it has made {attempts} attempts, and none since the service can be reached");
}

// Rule F49.
#[test]
fn a_process_gets_as_many_sends_as_its_operations_that_wait() {
    let mut process = Exchange::default();
    assert_eq!(process.call(1_000, 0, 9), LineReply::default(), "nobody waits");
    let reply = |granted| LineReply { granted, is_waiting: true, ..LineReply::default() };
    assert_eq!(process.call(1_000, 2, 0), reply(0), "what was spare before is not kept");
    assert_eq!(process.call(1_000, 0, 9), reply(0));
    assert_eq!(process.call(1_000, 2, 1), reply(2));
    assert_eq!(process.call(1_000, 100, 0), reply(8));
    assert_eq!(process.call(1_000, 100, 0), reply(0));
}

/// A store, and processes that call it, with the total number of sends that each has given to others, in halves.
#[derive(Default)]
struct Exchanges {
    store: MemoryStore,
    given: BTreeMap<&'static str, u64>,
}

impl Exchanges {
    /// The process gives this many halves of a send more, and gets the reply. Its operations have waited for some seconds.
    fn call(&mut self, now: u64, name: &'static str, waiting: u32, wait: u64, spare: u64) -> LineReply {
        let given = self.given.entry(name).or_default();
        *given += spare;
        let mut call = Call::new(name, "fresh");
        call.line = Some(LineCall { waiting, longest_wait: Duration::from_secs(wait), spare: *given });
        self.store.call(now, &call).line.unwrap()
    }

    /// The healthy process gives this many sends.
    fn gives(&mut self, now: u64, sends: u64) {
        self.call(now, "healthy", 0, 0, 2 * sends);
    }

    /// Operations of three processes wait for 30, 20 and 10 seconds.
    fn waiting(now: u64) -> Self {
        let mut all = Self::default();
        for (name, wait) in [("oldest", 30), ("middle", 20), ("newest", 10), ("healthy", 0)] {
            all.call(now, name, u32::from(wait > 0), wait, 0);
        }
        all
    }
}

// Rule F53.
#[test]
fn the_longer_the_operations_of_a_process_have_waited_the_fewer_sends_must_be_left() {
    let now = 1_000_000;
    let mut all = Exchanges::waiting(now);
    let later = |seconds| LineReply { granted: 0, is_waiting: true, least_wait: Duration::from_secs(seconds) };
    let first = |granted| LineReply { granted, is_waiting: true, ..LineReply::default() };
    assert_eq!(all.call(now, "newest", 1, 10, 0), later(30));
    assert_eq!(all.call(now, "oldest", 1, 30, 0), first(0));
    assert_eq!(all.call(now, "healthy", 0, 0, 0), later(30), "for operations that are yet to begin to wait");
    all.call(now, "fourth", 1, 5, 0);
    all.gives(now, 1);
    assert_eq!(all.call(now, "fourth", 1, 5, 0), later(10), "the three that wait longer are enough for one send");
    assert_eq!(all.call(now, "newest", 1, 10, 0), first(1));
    all.gives(now, 2);
    assert_eq!(all.call(now, "fourth", 9, 5, 0), first(2));
}

// Rule F53.
#[test]
fn two_halves_of_different_processes_are_a_send() {
    let now = 1_000_000;
    let mut all = Exchanges::waiting(now);
    all.call(now, "healthy", 0, 0, 1);
    assert_eq!(all.call(now, "oldest", 1, 30, 0).granted, 0);
    assert_eq!(all.call(now, "middle", 1, 20, 1).granted, 1);
}

// Rule F53.
#[test]
fn a_process_that_waits_no_longer_or_is_silent_keeps_no_sends_from_others() {
    let now = 1_000_000;
    let mut all = Exchanges::waiting(now);
    all.call(now, "oldest", 0, 0, 0);
    assert_eq!(all.call(now, "newest", 1, 10, 0).least_wait, Duration::from_secs(20));
    // The one in the middle calls no more. The limit of this call is 30 s.
    assert_eq!(all.call(now + 29_999, "newest", 1, 39, 0).least_wait, Duration::from_millis(49_999));
    assert_eq!(all.call(now + 30_000, "newest", 1, 40, 0).least_wait, Duration::ZERO);
}

// Rule F53.
#[test]
fn of_many_processes_the_latest_sixteen_are_compared() {
    const NAMES: [&str; 17] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q"];
    let now = 1_000_000;
    let mut all = Exchanges::default();
    all.gives(now, 0);
    NAMES.iter().enumerate().for_each(|(wait, name)| _ = all.call(now, name, 1, 100 - wait as u64, 0));
    assert_eq!(all.call(now, "q", 1, 84, 0).least_wait, Duration::from_secs(99), "the first is forgotten");
    all.gives(now, 7);
    assert_eq!(all.call(now, "q", 1, 84, 0).granted, 0);
    all.gives(now, 1);
    assert_eq!(all.call(now, "q", 9, 84, 0).granted, 8);
}

// Rule F49.
#[test]
fn a_call_that_is_repeated_or_late_gives_nothing_twice() {
    let mut process = Exchange::default();
    process.call(1_000, 1, 0);
    process.call(1_000, 0, 10);
    for spare in [10, 10, 4] {
        process.repeat(1_000, line_call(0, 2 * spare));
    }
    assert_eq!(process.call(1_000, 100, 0).granted, 10);
    // A store that does not know the process any more does not know what it has given before.
    process.store.forget();
    process.call(1_000, 1, 0);
    assert_eq!(process.call(1_000, 100, 3).granted, 3);
}

// Rule F50.
#[test]
fn sends_that_no_process_takes_fade_and_are_forgotten() {
    let mut process = Exchange::default();
    let reply = |granted| LineReply { granted, is_waiting: true, ..LineReply::default() };
    process.call(1_000, 1, 0);
    process.call(1_000, 0, 40);
    assert_eq!(process.call(1_250, 10, 0), reply(10));
    assert_eq!(process.call(1_500, 100, 0), reply(15), "one, and three quarters of 19");
    process.call(1_500, 0, 40);
    assert_eq!(process.call(2_500, 100, 0), reply(1));
    assert_eq!(process.call(5_499, 0, 40), reply(0));
    assert_eq!(process.call(5_500, 0, 40), LineReply::default(), "nobody has waited for three seconds");
    assert_eq!(process.call(5_500, 100, 0), reply(0));
    // While calls are made, a part of what is left fades with each.
    process.call(5_500, 0, 1_000);
    (5_500..6_500).for_each(|now| _ = process.call(now, 0, 0));
    let left = process.call(6_500, 2_000, 0).granted;
    assert!((350..=368).contains(&left), "{left}");
}

// Rules F49, F50.
#[test]
fn each_second_success_of_a_quiet_fleet_sends_an_operation() {
    for gap in [500, 1_000, 1_500] {
        let mut store = MemoryStore::default();
        let (mut older, mut younger) = (Process::new("older", 0), Process::new("younger", 0));
        let mut waiting = [(0..40).map(|_| older.waits(1_000)).collect(), Vec::new()];
        for now in (2_000..14_000).step_by(250) {
            if now == 5_000 {
                waiting[1].extend((0..5).map(|_| younger.waits(now)));
            }
            if now % gap == 0 {
                younger.succeeds(now);
            }
            if now % 500 == 0 {
                older.call(now, &mut store);
                younger.call(now + 100, &mut store);
            }
            for (process, tokens) in [&older, &younger].into_iter().zip(&mut waiting) {
                tokens.retain_mut(|token| !process.is_sent(token, now + 150));
            }
        }
        let sent = 45 - u64::try_from(waiting.iter().map(Vec::len).sum::<usize>()).unwrap();
        assert!(sent >= 12_000 / gap / 2, "{sent} of {}, a success in {gap} ms", 12_000 / gap);
    }
}

// Rule F50.
#[test]
fn sends_are_kept_for_processes_that_call_rarely() {
    let mut process = Exchange::default();
    let line = |waiting| line_call(waiting, 0);
    process.repeat_with(1_000, line(1), 10);
    assert!(process.repeat_with(10_999, line(0), 10).is_waiting);
    assert!(!process.repeat_with(11_000, line(0), 10).is_waiting);
}

// Rules F49, F50.
#[test]
fn no_more_is_granted_than_was_given_whatever_is_lost_late_or_repeated() {
    let (mut process, mut random, mut now) = (Exchange::default(), Random(5), 1_000);
    let (mut granted, mut calls) = (0, vec![LineCall::default()]);
    for _ in 0..20_000 {
        now += u64::from(random.below(20));
        let (waiting, spare) = (random.below(4).saturating_sub(1), u64::from(random.below(2)));
        process.spare += spare;
        // Some calls are lost, and some come again later.
        let made = line_call(waiting, process.spare);
        let late = calls[calls.len().saturating_sub(1 + random.below(3) as usize)];
        calls.push(made);
        let line = if random.one_in(5) { late } else { made };
        let reply = process.repeat(now, line);
        assert!(reply.granted <= line.waiting && (line.waiting == 0 || reply.is_waiting));
        granted += u64::from(reply.granted);
    }
    let given = process.spare;
    assert!(2 * granted <= given && 20 * granted > 9 * given, "{granted} of {given}");
}

// Rule F49.
#[test]
fn a_quota_that_replaces_a_patient_strategy_has_no_line() {
    let member = Process::new("p", 0).member.quota(Arc::new(EvidenceQuota::new()));
    assert_eq!({ member }.call(at(0), false).line, None);
}

// Rule F49.
#[test]
fn a_patient_strategy_that_is_built_on_a_configuration_has_a_line() {
    let config = RetryConfig::new().try_max_attempts(4).unwrap();
    let strategy = Arc::new(config.build_on(PatientRetryStrategy::new()).unwrap());
    let mut member = Member::new("orders", "p", at(0)).patient(Arc::clone(&strategy));
    assert_eq!(strategy.standard().settings().max_attempts, 4);
    assert_eq!(member.call(at(0), false).line, Some(LineCall::default()));
}

// Rule F6.
#[cfg(feature = "test")]
#[test]
fn under_a_test_guard_no_line_is_shared() {
    let (mut store, now) = (MemoryStore::new(), 10_000);
    let mut process = Process::new("p", now);
    process.call(now, &mut store);
    let _test = retry_core::test::begin();
    assert_eq!(process.member.call(at(now), false).line, None);
    let mut reply = Reply::new("epoch", 2);
    reply.line = Some(LineReply { is_waiting: true, ..LineReply::default() });
    process.member.answered(at(now), &reply);
    (0..40).for_each(|_| process.succeeds(now));
    assert_eq!(process.strategy.take_spare_halves(&At(now)), 0, "nothing is kept for others");
}
