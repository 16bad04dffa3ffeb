//! Compares quotas that exchange their knowledge with quotas that don't, and with one quota for all of the traffic.

use super::reference::Numbers;
use super::{EvidenceQuota, QuotaKnowledge};
use crate::policy::RetryErrorType::{Other, Timeout};
use crate::quota::{QuotaMode, RetryQuota};
use crate::time::{Clock, ManualTimer, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// How the quotas exchange their knowledge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reports {
    None,
    /// Each quota gets the reports of all others every second.
    All,
    /// A third of the reports is lost, a third arrives twice, and each is two seconds late.
    Soft,
}

/// The results of the operations of all quotas.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    operations: u32,
    retries: u32,
    successes: u32,
}

impl Outcome {
    fn load(&self) -> f64 {
        1.0 + f64::from(self.retries) / f64::from(self.operations)
    }

    fn share(&self) -> f64 {
        f64::from(self.successes) / f64::from(self.operations)
    }
}

struct Fleet {
    quotas: Vec<EvidenceQuota>,
    clock: ManualTimer,
    numbers: Numbers,
    /// The retries that wait, by time and number, with the quota and the attempt.
    waiting: BTreeMap<(Timestamp, u64), (usize, u32)>,
    /// The reports of the last seconds, the oldest one first.
    reports: Vec<Vec<QuotaKnowledge>>,
}

impl Fleet {
    /// Returns quotas whose first attempts succeeded.
    fn new(quotas: usize) -> Self {
        let quotas: Vec<_> = (0..quotas).map(|_| EvidenceQuota::new()).collect();
        for quota in &quotas {
            quota.first_succeeded(0);
        }
        let (clock, numbers) = (ManualTimer::new(), Numbers(7));
        Self { quotas, clock, numbers, waiting: BTreeMap::new(), reports: Vec::new() }
    }

    fn attempt(&mut self, quota: usize, attempt: u32, failures_of_100: u64, result: &mut Outcome) {
        let fails = self.numbers.below(100) < failures_of_100;
        match (fails, attempt) {
            (false, 1) => self.quotas[quota].first_succeeded(0),
            (false, _) => self.quotas[quota].retry_succeeded(1, 0),
            (true, 5) => return,
            (true, _) => {
                if self.quotas[quota].pay(14, Other, &self.clock).is_some() {
                    result.retries += 1;
                    let delay = Duration::from_millis(self.numbers.below(1_000 << attempt));
                    let at = self.clock.now().saturating_add(delay);
                    let number = self.numbers.0;
                    self.waiting.insert((at, number), (quota, attempt + 1));
                }
                return;
            }
        }
        result.successes += 1;
    }

    /// Runs operations at this rate per second. Each attempt fails with this chance.
    fn run(&mut self, seconds: u32, rate: u32, failures_of_100: u64, reports: Reports) -> Outcome {
        let mut result = Outcome::default();
        for operation in 0..seconds * rate {
            self.clock.advance(SECOND / rate);
            while let Some(entry) = self.waiting.first_entry()
                && entry.key().0 <= self.clock.now()
            {
                let (quota, attempt) = entry.remove();
                self.attempt(quota, attempt, failures_of_100, &mut result);
            }
            result.operations += 1;
            let quota = usize::try_from(self.numbers.below(self.quotas.len() as u64)).unwrap();
            self.attempt(quota, 1, failures_of_100, &mut result);
            if operation % rate == rate - 1 && reports != Reports::None {
                self.exchange(reports);
            }
        }
        result
    }

    fn exchange(&mut self, reports: Reports) {
        self.reports.push(self.quotas.iter().map(|quota| quota.knowledge(&self.clock)).collect());
        let late = if reports == Reports::Soft { 2 } else { 0 };
        let Some(index) = self.reports.len().checked_sub(1 + late) else { return };
        for (number, quota) in self.quotas.iter().enumerate() {
            let mut peers = QuotaKnowledge::default();
            for (_, report) in self.reports[index].iter().enumerate().filter(|(other, _)| *other != number) {
                let report = report.aged(SECOND * u32::try_from(late).unwrap());
                let times = if reports == Reports::Soft { self.numbers.below(3) } else { 1 };
                peers = (0..times).fold(peers, |peers, _| peers.merge(report));
            }
            quota.set_peers(peers, &self.clock);
        }
    }
}

// Rule Q20.
#[test]
fn quotas_that_exchange_what_they_know_judge_as_one() {
    for quotas in [2, 10, 100] {
        let load = |quotas, reports| Fleet::new(quotas).run(60, 20, 100, reports).load() - 1.0;
        let share = |quotas, reports| Fleet::new(quotas).run(1_200, 20, 40, reports).share();
        let all = [(1, Reports::None), (quotas, Reports::None), (quotas, Reports::All), (quotas, Reports::Soft)];
        let [one, alone, together, soft] = all.map(|(quotas, reports)| load(quotas, reports));
        let loads = format!("{quotas} quotas, the load of retries in an outage: {one}, {alone}, {together}, {soft}");
        assert!(together < 1.6 * one, "{loads}");
        assert!(soft < alone.max(2.0 * one), "{loads}");
        let [one, alone, together, soft] = all.map(|(quotas, reports)| share(quotas, reports));
        let shares = format!("{quotas} quotas, successes where 40 % fail: {one}, {alone}, {together}, {soft}");
        assert!(together > alone && together > 0.95 * one, "{shares}");
        assert!(soft > alone - 0.02, "{shares}");
    }
}

/// Returns a quota that has paid for a retry, and its clock.
fn spending() -> (EvidenceQuota, ManualTimer) {
    let (quota, clock) = (EvidenceQuota::new(), ManualTimer::new());
    quota.first_succeeded(0);
    assert!(quota.pay(14, Other, &clock).is_some());
    (quota, clock)
}

fn exhausted() -> QuotaKnowledge {
    QuotaKnowledge::new(1_010.0, 1_000.0, None)
}

// Rule Q20.
#[test]
fn a_quota_without_a_failure_hears_of_the_failures_of_its_peers() {
    let (quota, clock) = (EvidenceQuota::new(), ManualTimer::new());
    quota.first_succeeded(0);
    quota.set_peers(exhausted(), &clock);
    assert_eq!(quota.mode(), Some(QuotaMode::Full));
    assert_eq!(quota.pay(14, Other, &clock), None);
    assert_eq!(quota.mode(), Some(QuotaMode::Exhausted));
    quota.set_peers(QuotaKnowledge::default(), &clock);
    assert!(quota.pay(14, Other, &clock).is_some(), "there are no peers any more");
}

// Rule Q20.
#[test]
fn stale_knowledge_fades() {
    let (quota, clock) = spending();
    quota.set_peers(exhausted(), &clock);
    let refused = (0..300).filter(|_| {
        clock.advance(SECOND);
        quota.pay(14, Other, &clock).is_none_or(|paid| {
            quota.give_back(paid);
            false
        })
    });
    let refused = refused.count();
    assert!((30..90).contains(&refused), "it is refused for {refused} seconds");

    let half = QuotaKnowledge::new(64.0, 128.0, Some(SECOND)).aged(5 * SECOND);
    assert_eq!((half.missing(), half.capacity(), half.timeout_age()), (32.0, 64.0, Some(6 * SECOND)));
    assert_eq!(half.aged(Duration::MAX), QuotaKnowledge::default());
    assert_eq!(half.aged(114 * SECOND).timeout_age(), None, "after two minutes");
}

// Rule Q20.
#[test]
fn a_timeout_of_a_peer_makes_a_quota_doubt() {
    let (quota, clock) = spending();
    quota.set_peers(QuotaKnowledge::new(0.0, 10.0, Some(SECOND)), &clock);
    assert!(quota.pay(14, Other, &clock).is_some());
    assert_eq!(quota.mode(), Some(QuotaMode::Congested));
    assert_eq!(quota.knowledge(&clock).timeout_age(), None, "it reports only its own");
    quota.pay(14, Timeout, &clock);
    clock.advance(3 * SECOND);
    assert_eq!(quota.knowledge(&clock).timeout_age(), Some(3 * SECOND));
}

// Rule Q20.
#[test]
fn between_two_reports_of_its_peers_a_quota_spends_up_to_twice_its_own_capacity() {
    let (quota, clock) = spending();
    for round in 0..5 {
        quota.set_peers(QuotaKnowledge::new(0.0, 1_000.0, None), &clock);
        let attempts = (0..50).map(|_| {
            clock.advance(SECOND / 10);
            quota.pay(14, Other, &clock).is_some()
        });
        // Twice the attempts of 1 5/8 seconds.
        let paid = attempts.filter(|is_paid| *is_paid).count();
        assert!((25..40).contains(&paid), "{paid} in round {round}");
    }
}

// Rule Q20.
#[test]
fn half_of_the_capacity_of_all_pays_for_retries_of_timeouts() {
    for (missing, is_paid) in [(40.0, true), (60.0, false)] {
        let (quota, clock) = (EvidenceQuota::new(), ManualTimer::new());
        (0..32).for_each(|_| quota.first_succeeded(0));
        quota.set_peers(QuotaKnowledge::new(missing, 100.0, None), &clock);
        assert_eq!(quota.pay(14, Timeout, &clock).is_some(), is_paid, "{missing} of 100");
        assert!(quota.pay(14, Other, &clock).is_some());
    }
}

// Rule Q20.
#[test]
fn half_of_the_retries_of_a_quota_are_not_traffic_in_its_report() {
    let (quota, clock) = spending();
    let reported = |spent: usize| {
        (0..spent).for_each(|_| assert!(quota.pay(14, Other, &clock).is_some()));
        quota.knowledge(&clock).capacity()
    };
    let (none, four) = (reported(0), reported(4));
    assert!(none > 0.0);
    // Each of these failures is an attempt, and a retry. The first attempt of a burst counts as half of one.
    assert!((four - none - 2.0 * 1.625 / 0.5).abs() < 0.01, "{none} and {four}");
}

// Rule Q20.
#[test]
fn the_order_of_reports_does_not_matter_and_a_report_that_comes_twice_changes_no_share() {
    let numbers = &mut Numbers(1);
    for _ in 0..1_000 {
        let [a, b, c] = [(); 3].map(|()| {
            let mut amount = || f64::from(u32::try_from(numbers.below(1 << 20)).unwrap()) / 64.0;
            let (missing, capacity) = (amount() - 4_000.0, amount());
            let age = Some(Duration::from_millis(numbers.below(240_000))).filter(|age| *age < 60 * SECOND);
            QuotaKnowledge::new(missing, capacity, age)
        });
        assert_eq!(a.merge(b), b.merge(a));
        assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
        let (once, twice) = (a.merge(b), a.merge(b).merge(a).merge(b));
        assert_eq!((2.0 * once.missing(), 2.0 * once.capacity()), (twice.missing(), twice.capacity()));
        assert_eq!(once.timeout_age(), twice.timeout_age());
        assert_eq!(a.merge(QuotaKnowledge::default()), a);
        assert_eq!(QuotaKnowledge::new(a.missing(), a.capacity(), a.timeout_age()), a, "it can be sent");
    }
}

// Rule Q20.
#[test]
fn a_part_of_a_surplus_is_in_proportion_to_the_traffic_and_never_below_zero() {
    let most = 1 << 40;
    for (missing, capacity, of_peers, traffic, part) in [
        (-64, 1, 0, 0, 64),
        (-64, 1, 0, 1, 32),
        (-64, 0, 0, 0, 0),
        (-64, 0, 0, 9, 0),
        (-64, 3, 63, 0, 1),
        (-64, 3, 64, 0, 0),
        (-64, 3, 65, 0, 0),
        (64, 1, -96, 1, 16),
        (-most, most, -most, most, most),
    ] {
        let (own, peers) = (QuotaKnowledge::of(missing, capacity, None), QuotaKnowledge::of(of_peers, traffic, None));
        assert_eq!(own.part_of_surplus(peers), part, "{own:?}, {peers:?}");
    }
}

#[test]
fn knowledge_has_a_mode_and_takes_any_number() {
    let mode = |missing, capacity, age| QuotaKnowledge::new(missing, capacity, age).mode();
    assert_eq!(QuotaKnowledge::default().mode(), QuotaMode::Full);
    assert_eq!(mode(2.0, 10.0, None), QuotaMode::Spending);
    assert_eq!(mode(2.0, 10.0, Some(SECOND)), QuotaMode::Congested);
    assert_eq!(mode(9.5, 10.0, Some(SECOND)), QuotaMode::Exhausted);
    let odd = QuotaKnowledge::new(f64::NAN, -3.0, Some(Duration::MAX));
    assert_eq!(odd, QuotaKnowledge::default());
    let most = QuotaKnowledge::new(f64::INFINITY, f64::INFINITY, None);
    let (quota, clock) = spending();
    for _ in 0..100 {
        quota.set_peers((0..100).fold(most, |all, _| all.merge(most)), &clock);
        quota.pay(14, Timeout, &clock);
        quota.retry_succeeded(1, 0);
        quota.set_peers(QuotaKnowledge::new(f64::NEG_INFINITY, 1e30, None), &clock);
        quota.pay(14, Other, &clock);
        clock.advance(SECOND);
    }
}
