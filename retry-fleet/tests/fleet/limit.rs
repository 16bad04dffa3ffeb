//! One limit for many processes, against a server that accepts so many requests in a second.

use crate::limit_world::{Counts, GREEDY, World};
use crate::millis::at;
use retry_config::{RetryConfig, RetryMode};
use retry_core::StandardRetryStrategy;
use retry_core::time::ManualTimer;
use retry_fleet::Member;
use retry_fleet::protocol::{Call, LimitCall, LimitReply, Post, Reply};
use retry_fleet::store::MemoryStore;
use retry_limits::PacedRetryStrategy;
use std::sync::Arc;

/// Returns the share that was rejected, Jain's index of fairness, and the part of the limit that was used, in these seconds.
fn outcome(counts: &Counts, seconds: std::ops::Range<usize>, rate: f64) -> (f64, f64, f64) {
    let time = u32::try_from(seconds.len()).unwrap();
    let sums = counts.of_each(seconds);
    let accepted: f64 = sums.iter().map(|(accepted, _)| f64::from(*accepted)).sum();
    let rejected: f64 = sums.iter().map(|(_, rejected)| f64::from(*rejected)).sum();
    let squares: f64 = sums.iter().map(|(accepted, _)| f64::from(*accepted).powi(2)).sum();
    let processes = f64::from(u32::try_from(sums.len()).unwrap());
    (rejected / (accepted + rejected), accepted * accepted / (processes * squares), accepted / (f64::from(time) * rate))
}

// Rules C24, F8.
#[test]
fn the_limit_of_a_fleet_can_be_that_of_a_configured_strategy() {
    let mode = |mode| RetryConfig::new().mode(mode);
    let strategy = Arc::new(mode(RetryMode::Paced).build_on(StandardRetryStrategy::new()).unwrap());
    let mut member = Member::new("orders", "one", at(0)).limit(Arc::clone(&strategy));
    let call = member.call(at(0), false);
    assert_eq!((call.limit.is_some(), strategy.send_rate()), (true, Some(10.0)), "a newcomer");
    // The rate of the fleet is kept for the mode.
    strategy.apply(&mode(RetryMode::Standard), &ManualTimer::new()).unwrap();
    assert_eq!(strategy.send_rate(), None);
    strategy.apply(&mode(RetryMode::Paced), &ManualTimer::new()).unwrap();
    assert_eq!(strategy.send_rate(), Some(10.0));
}

// Rules F8, F9.
#[test]
fn many_processes_share_a_limit_fairly_and_are_hardly_rejected() {
    for (processes, rate) in [(1, 100.0), (10, 500.0), (100, 500.0), (100, 100.0)] {
        let counts = World::new(processes, rate).run(90);
        let (rejected, fairness, used) = outcome(&counts, 60..90, rate);
        let outcome = format!("{processes} processes: {rejected} rejected, fairness {fairness}, {used} used");
        assert!(rejected < 0.02 && fairness > 0.98 && used > 0.97, "{outcome}");
    }
}

// Rule F52.
#[test]
fn processes_with_small_shares_that_begin_together_do_not_send_together_for_long() {
    for (processes, least) in [(50, 0.88), (100, 0.83)] {
        let counts = World::new(processes, 100.0).burst(0.1).run(180);
        let (rejected, fairness, used) = outcome(&counts, 60..180, 100.0);
        let outcome = format!("{processes} processes: {rejected} rejected, fairness {fairness}, {used} used");
        assert!(rejected < 0.02 && fairness > 0.98 && used > least, "{outcome}");
    }
}

// Rules F8, L11.
#[test]
fn a_fleet_that_knows_nothing_finds_the_limit_without_many_rejections() {
    for (processes, rate, most) in [(1, 100.0, 150), (8, 100.0, 150), (10, 500.0, 750)] {
        let counts = World::new(processes, rate).run(10).of_each(0..10);
        let (accepted, rejected) = counts.iter().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
        let used = f64::from(accepted) / (10.0 * rate);
        // The server has saved up a burst of one second.
        assert!(rejected < most && used > 0.94, "{processes} processes: {rejected} rejected, {used} used");
    }
}

// Rules F8, L4.
#[test]
fn a_fleet_follows_a_limit_that_rises_and_one_that_falls() {
    for (before, after, soon) in [(100.0, 400.0, 0.4), (500.0, 800.0, 0.9), (400.0, 100.0, 0.9)] {
        let counts = World::new(10, before).later(40, after).run(70);
        let ((_, _, soon_used), (rejected, _, used)) =
            (outcome(&counts, 40..50, after), outcome(&counts, 50..70, after));
        let outcome = format!("{before} to {after}: {soon_used} used soon, then {used}, {rejected} rejected");
        assert!(soon_used > soon && used > 0.97 && rejected < 0.03, "{outcome}");
    }
}

// Rule F10.
#[test]
fn while_the_store_is_lost_each_process_keeps_its_share_of_the_estimate() {
    let counts = World::new(100, 500.0).cut_off(|_, second| (65..85).contains(&second)).run(90);
    let (rejected, fairness, used) = outcome(&counts, 60..90, 500.0);
    let outcome = format!("{rejected} rejected, fairness {fairness}, {used} used");
    assert!(rejected < 0.05 && fairness > 0.98 && used > 0.95, "{outcome}");
}

// Rules F10, F35, F36.
#[test]
fn a_store_that_answers_too_late_for_a_while_costs_none_of_the_limit() {
    for (processes, rate, burst) in [(8, 100.0, 1.0), (10, 500.0, 0.1), (25, 100.0, 0.1)] {
        let counts = World::new(processes, rate).burst(burst).slow(20..80).run(110);
        for seconds in [45..80, 90..110] {
            let (rejected, _, used) = outcome(&counts, seconds.clone(), rate);
            let outcome = format!("{processes} processes, {seconds:?}: {used} used, {rejected} rejected");
            assert!(used > 0.95 && rejected < 0.03, "{outcome}");
        }
    }
}

// Rules F8, F10, F25.
#[test]
fn a_store_that_is_lost_before_the_limit_was_measured_leaves_the_fleet_neither_above_nor_below_it() {
    for lost in 1..5 {
        let counts = World::new(25, 100.0).cut_off(|_, second| (lost..lost + 6).contains(&second)).run(40);
        let away = usize::try_from(lost).unwrap() + 1;
        let (alone, ..) = outcome(&counts, away..away + 5, 100.0);
        let ((_, _, soon), (rejected, _, used)) = (outcome(&counts, 12..20, 100.0), outcome(&counts, 20..40, 100.0));
        let then = format!("{soon} used soon, then {used}, {rejected} rejected");
        let outcome = format!("lost from {lost} s on: {alone} rejected; back: {then}");
        assert!(alone < 0.2 && soon > 0.9 && used > 0.95 && rejected < 0.1, "{outcome}");
    }
}

// Rule F9.
#[test]
fn processes_that_want_less_leave_the_rest_to_the_others() {
    // Three want 5, 10 and 20 per second, and two as much as they can.
    let wanted = |process: usize, now: u64| match [200, 100, 50].get(process) {
        Some(interval) => u32::from(now.is_multiple_of(*interval)),
        None => GREEDY,
    };
    let counts = World::new(5, 100.0).wants(wanted).run(60).of_each(30..60);
    for ((accepted, _), wanted) in counts.into_iter().zip([5.0, 10.0, 20.0, 32.5, 32.5]) {
        let accepted = f64::from(accepted) / 30.0;
        assert!((accepted / wanted - 1.0).abs() < 0.06, "{accepted} instead of {wanted}");
    }
}

// Rules F9, F23.
#[test]
fn a_process_that_sends_little_takes_little_even_if_its_requests_come_in_pairs() {
    let wanted = |process: usize, now: u64| match process {
        0 => GREEDY,
        _ => 2 * u32::from((now + 37 * process as u64).is_multiple_of(1_000)),
    };
    let counts = World::new(10, 100.0).wants(wanted).run(60).of_each(30..60);
    let greedy = f64::from(counts[0].0) / 30.0;
    assert!(greedy > 78.0, "{greedy} of the 82 per second that the others leave");
}

// Rules F9, F24.
#[test]
fn processes_that_begin_to_send_at_the_same_moment_do_not_all_take_the_rest() {
    // One is busy from the start, and the others have nothing to send for 35 s.
    let wanted = |process: usize, now| if process == 0 || now >= 35_000 { GREEDY } else { 0 };
    let counts = World::new(25, 100.0).wants(wanted).run(60);
    let (rejected, _, used) = outcome(&counts, 30..60, 100.0);
    assert!(rejected < 0.05 && used > 0.97, "{rejected} rejected, {used} used");
}

// Rule F8.
#[test]
fn a_fleet_that_was_idle_continues_from_its_estimate() {
    let wanted = |_, now| if (20_000..35_000).contains(&now) { 0 } else { GREEDY };
    let counts = World::new(8, 100.0).wants(wanted).run(50);
    // The server has saved up a burst.
    let (rejected, _, used) = outcome(&counts, 35..50, 100.0);
    assert!(rejected < 0.03 && (1.0..1.1).contains(&used), "{rejected} rejected, {used} used");
}

// Rules F8, L11, L37.
#[test]
fn a_fleet_that_was_idle_before_it_had_measured_the_limit_does_not_take_a_burst_for_it() {
    for idle in [2_300, 2_600, 2_900, 3_200] {
        let wanted = |_, now| if (idle..10_000).contains(&now) { 0 } else { GREEDY };
        let counts = World::new(8, 100.0).wants(wanted).run(25);
        let (rejected, _, used) = outcome(&counts, 10..25, 100.0);
        assert!(rejected < 0.1 && used > 0.95, "idle from {idle}: {rejected} rejected, {used} used");
    }
}

// Rules F8, F22.
#[test]
fn a_late_report_is_not_treated_as_goodput_of_the_last_moment() {
    // One of two is cut off from the store for 20 s.
    let cut_off = |process, second| process == 1 && (30..50).contains(&second);
    let counts = World::new(2, 200.0).cut_off(cut_off).run(70);
    // When it is back, the estimate is that for the other one, and the fleet proves and then finds the limit of both.
    let ((at_once, ..), (rejected, _, used)) = (outcome(&counts, 50..56, 200.0), outcome(&counts, 60..70, 200.0));
    assert!(at_once < 0.01, "{at_once} rejected at once");
    assert!(rejected < 0.05 && used > 0.95, "{rejected} rejected later, {used} used");
}

// Rules F8, F22.
#[test]
fn the_share_of_a_process_that_crashed_is_soon_used_by_the_others() {
    let counts = World::new(4, 200.0).crash(|process, second| process >= 2 && second >= 30).run(70);
    let (_, _, used) = outcome(&counts, 35..65, 200.0);
    let (rejected, ..) = outcome(&counts, 55..65, 200.0);
    assert!(used > 0.95 && rejected < 0.05, "{used} used, {rejected} rejected");
}

/// Empties the store after 40 s. Returns the part of the limit that was used, and the share that was rejected, in the first and
/// the second 5 s after that, and later.
fn after_emptying(world: World<'_>, rate: f64) -> [(f64, f64); 3] {
    let counts = world.empty_the_store_at(40_000).run(70);
    [40..45, 45..50, 50..70].map(|seconds| {
        let (rejected, _, used) = outcome(&counts, seconds, rate);
        (used, rejected)
    })
}

// Rules F10, F26.
#[test]
fn an_emptied_store_takes_over_the_estimate_even_if_a_newcomer_calls_first() {
    for (processes, rate) in [(9, 500.0), (100, 500.0), (9, 100.0), (9, 50.0)] {
        for (newcomer, late) in [(None, 0), (Some(0), 0), (None, 5), (Some(0), 5)] {
            let does_not_run = |process, second| Some(process) == newcomer && second < 40;
            // Until the others are back, the newcomer looks for the limit, and finds it by rejections.
            let is_away = |process, second| process > 0 && (40..40 + late).contains(&second);
            let world = World::new(processes, rate).crash(does_not_run).cut_off(is_away);
            let [first, second, later] = after_emptying(world, rate);
            let case = format!("{processes} on {rate}, {newcomer:?}, {late} s late: {first:?} {second:?} {later:?}");
            let most = if newcomer.is_some() { 0.3 } else { 0.02 };
            assert!(first.0 > 0.95 && first.1 < most, "{case}");
            assert!(second.0 > 0.95 && second.1 < 0.05 && later.0 > 0.97 && later.1 < 0.03, "{case}");
        }
    }
}

// Rules F10, F27.
#[test]
fn while_processes_return_to_an_emptied_store_the_estimate_does_not_fall_with_their_number() {
    for rate in [100.0, 500.0] {
        let is_away = |process, second| second >= 40 && second < 40 + process as u64 % 5;
        for (used, rejected) in after_emptying(World::new(20, rate).cut_off(is_away), rate) {
            assert!(used > 0.97 && rejected < 0.04, "limit {rate}: {used} used, {rejected} rejected");
        }
    }
    // A limit that falls meanwhile is noticed.
    let [_, (used, rejected), _] = after_emptying(World::new(10, 500.0).later(41, 300.0), 300.0);
    assert!(used > 0.95 && rejected < 0.05, "{used} used, {rejected} rejected");
    // Processes that do not return within 10 s leave their shares to the others.
    let has_crashed = |process, second| process % 2 == 0 && second >= 40;
    let [(first, _), _, (later, rejected)] = after_emptying(World::new(20, 200.0).crash(has_crashed), 200.0);
    assert!(first < 0.6 && later > 0.95 && rejected < 0.05, "{first} and {later} used, {rejected} rejected");
}

// Rules F10, F26.
#[test]
fn a_store_that_is_emptied_before_the_limit_was_measured_begins_again() {
    let counts = World::new(25, 5_000.0).empty_the_store_at(500).run(10);
    let (_, _, used) = outcome(&counts, 6..10, 5_000.0);
    assert!(used > 0.9, "{used} used");
    // Without a measured estimate, there is none to use while the store is lost, either.
    let counts = World::new(25, 100.0).empty_the_store_at(1_500).cut_off(|_, second| (2..10).contains(&second)).run(10);
    let (rejected, _, used) = outcome(&counts, 3..10, 100.0);
    assert!(used > 0.95 && rejected < 0.1, "{used} used, {rejected} rejected");
}

// Rules F10, F26.
#[test]
fn an_estimate_is_one_even_if_nothing_was_rejected_since_the_store_was_emptied() {
    let wanted = |process: usize, now: u64| match now {
        30_000..65_000 => u32::from((now + 13 * process as u64).is_multiple_of(125)),
        _ => GREEDY,
    };
    let world = World::new(10, 100.0).wants(wanted).cut_off(|_, second| second >= 60);
    let counts = world.empty_the_store_at(40_000).run(90);
    let (rejected, _, used) = outcome(&counts, 65..90, 100.0);
    assert!(used > 0.9 && rejected < 0.01, "{used} used, {rejected} rejected");
}

/// Returns a reply to a member of a fleet of 10.
fn reply(rate: Option<(f64, f64)>) -> Reply {
    let mut reply = Reply::new("epoch", 10);
    reply.limit = Some(LimitReply { version: 1, cut: 0, rate, satisfied: 0, waiting: 10, step: None });
    reply
}

// Rules F9, F10, F25.
#[test]
fn one_failed_call_leaves_a_process_that_was_not_rejected_what_it_had() {
    for (rate, share) in [(None, 10.0), (Some((200.0, 200.0)), 0.97 * 20.0)] {
        let strategy = Arc::new(PacedRetryStrategy::new());
        let mut member = Member::new("orders", "p1", at(0)).limit(Arc::clone(&strategy));
        member.call(at(0), false);
        member.answered(at(5), &reply(rate));
        member.call(at(250), false);
        member.unanswered(at(260), &"no answer");
        assert!((member.status().share.unwrap() - share).abs() < 1e-9, "{:?}", member.status());
    }
}

// Rules F10, F26.
#[test]
fn a_state_takes_over_an_estimate_of_a_former_one_once_and_only_in_its_first_steps() {
    for (steps, is_taken) in [(0, true), (39, true), (40, false)] {
        let mut store = MemoryStore::new();
        let mut call = |now, member: &str, epoch: Option<&str>, limit: LimitCall| {
            let mut call = Call::new(member, "new");
            (call.epoch, call.limit) = (epoch.map(Into::into), Some(limit));
            store.call(now, &call).limit.unwrap()
        };
        let mut now = 0;
        for version in 0..steps {
            now += 250;
            let post =
                Post { version, accepted: 0, rejected: 0, rate: 7.0, estimate: 8.0, is_cut: false, state: "s".into() };
            call(now, "new", None, LimitCall { posted: Some(post), ..LimitCall::default() });
        }
        let own = (steps > 0).then_some((7.0, 8.0));
        let mut told =
            |known| call(now, "old", Some("lost"), LimitCall { known: Some(known), ..LimitCall::default() }).rate;
        // No rates.
        assert_eq!((told((f64::NAN, 100.0)), told((97.0, f64::INFINITY)), told((-1.0, 100.0))), (own, own, own));
        assert_eq!(told((97.0, 100.0)), if is_taken { Some((97.0, 100.0)) } else { own });
        assert_eq!(told((970.0, 1_000.0)), if is_taken { Some((97.0, 100.0)) } else { own });
    }
}

// Rule F8.
#[test]
fn the_step_numbers_of_a_lost_state_are_ignored() {
    let mut store = MemoryStore::new();
    let mut call = |now, member: &str, epoch: Option<&str>, limit: LimitCall| {
        let mut call = Call::new(member, "new");
        (call.epoch, call.limit) = (epoch.map(Into::into), Some(limit));
        store.call(now, &call).limit.unwrap()
    };
    let told = |version, rejected, posted| LimitCall { version, rejected, posted, ..LimitCall::default() };
    // It knows step 400 of the state that was lost, and the reply does not reach it.
    call(0, "old", Some("lost"), told(400, 0, None));
    call(0, "new", None, told(0, 0, None));
    let state = String::from("a state");
    let cut = Post { version: 0, accepted: 0, rejected: 0, rate: 90.0, estimate: 100.0, is_cut: true, state };
    call(5, "new", None, told(0, 0, Some(cut.clone())));
    // Its requests were sent before it knew of the cut, and its rate is not for this state.
    call(200, "old", Some("lost"), told(400, 7, Some(Post { version: 1, rate: 7.0, ..cut })));
    let reply = call(600, "new", None, told(1, 0, None));
    assert_eq!((reply.rate, reply.step.unwrap().rejected), (Some((90.0, 100.0)), 0));
}

// Rule F9.
#[test]
fn before_its_first_answer_a_process_sends_ten_requests_per_second() {
    let counts = World::new(3, 1_000.0).cut_off(|_, _| true).run(2).of_each(0..2);
    assert!(counts.iter().all(|(accepted, _)| (18..=20).contains(accepted)), "{counts:?}");
    // The store is lost after three seconds, and the process has its own estimate.
    let counts = World::new(1, 1_000.0).cut_off(|_, _| true).run(12).of_each(0..12);
    assert!(counts[0].0 > 5_000, "{counts:?}");
}

// Rules F9, G1.
#[cfg(feature = "test")]
#[test]
fn under_a_test_guard_the_limit_of_the_test_is_left_alone() {
    let strategy = Arc::new(PacedRetryStrategy::new());
    let mut member = Member::new("orders", "p1", at(0)).limit(Arc::clone(&strategy));
    assert!(member.call(at(0), false).limit.is_some());
    assert_eq!(strategy.send_rate(), Some(10.0));
    let _test = retry_core::test::begin();
    assert!(member.call(at(1_000), false).limit.is_none());
    assert_eq!(strategy.send_rate(), None);
}
