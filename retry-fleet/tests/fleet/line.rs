//! Operations that wait for the service are sent as the successes of all processes allow.

use crate::support::{Random, at};
use retry_core::strategy::{PatientRetryToken, Ready};
use retry_core::time::Timestamp;
use retry_core::{
    Clock, Failure, PatientRetryStrategy, RetryDirective, RetryErrorType, RetryQuota, RetryStrategy, RetryToken,
    Success,
};
use retry_fleet::Member;
use retry_fleet::protocol::{Call, LineCall, LineReply, Reply};
use retry_fleet::store::MemoryStore;
use std::sync::Arc;

#[derive(Debug)]
struct At(u64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        at(self.0)
    }
}

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

/// Makes a call with this, and returns the reply to it.
fn exchange(store: &mut MemoryStore, now: u64, waiting: u32, spare: u32) -> LineReply {
    let mut call = Call::new("p", "fresh");
    call.line = Some(LineCall { waiting, spare });
    store.call(now, &call).line.unwrap()
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
    assert_eq!(leaves.line, Some(LineCall { waiting: 0, spare: 2 }));
    (0..4).for_each(|_| healthy.succeeds(now));
    assert_eq!(healthy.strategy.take_spare_sends(&At(now)), 0, "it has left");
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
    let mut store = MemoryStore::new();
    assert_eq!(exchange(&mut store, 1_000, 0, 9), LineReply::default(), "nobody waits");
    let reply = |granted| LineReply { granted, is_waiting: true };
    assert_eq!(exchange(&mut store, 1_000, 2, 0), reply(0), "what was spare before is not kept");
    assert_eq!(exchange(&mut store, 1_000, 0, 9), reply(0));
    assert_eq!(exchange(&mut store, 1_000, 2, 1), reply(2));
    assert_eq!(exchange(&mut store, 1_000, 100, 0), reply(8));
    assert_eq!(exchange(&mut store, 1_000, 100, 0), reply(0));
}

// Rule F50.
#[test]
fn sends_that_no_process_takes_are_forgotten() {
    let mut store = MemoryStore::new();
    let reply = |granted| LineReply { granted, is_waiting: true };
    exchange(&mut store, 1_000, 1, 0);
    exchange(&mut store, 1_000, 0, 40);
    assert_eq!(exchange(&mut store, 1_250, 10, 0), reply(10));
    assert_eq!(exchange(&mut store, 1_500, 100, 0), reply(15), "three quarters of 20");
    exchange(&mut store, 1_500, 0, 40);
    assert_eq!(exchange(&mut store, 2_500, 100, 0), reply(0));
    assert_eq!(exchange(&mut store, 5_499, 0, 40), reply(0));
    assert_eq!(exchange(&mut store, 5_500, 0, 40), LineReply::default(), "nobody has waited for three seconds");
    assert_eq!(exchange(&mut store, 5_500, 100, 0), reply(0));
}

// Rules F49, F50.
#[test]
fn no_more_is_granted_than_was_given_whatever_is_lost() {
    let (mut store, mut random, mut now) = (MemoryStore::new(), Random(5), 1_000);
    let (mut given, mut granted, mut lost) = (0, 0, 0);
    for _ in 0..20_000 {
        now += u64::from(random.below(20));
        let (waiting, spare) = (random.below(4).saturating_sub(1), random.below(2));
        if random.one_in(5) {
            // The call is lost.
            lost += spare;
            continue;
        }
        let reply = exchange(&mut store, now, waiting, spare);
        assert!(reply.granted <= waiting && (waiting == 0 || reply.is_waiting));
        given += spare;
        granted += reply.granted;
    }
    assert!(granted <= given && 10 * granted > 9 * given && lost > 0, "{granted} of {given}");
}
