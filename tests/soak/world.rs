//! What the operations of one round share, and the strategies that live as long as the program.

use crate::ledger::{COSTS, Ledger};
use crate::problem::{MAX_TIME, Tally, equal, problem};
use crate::server::Service;
use crate::store::Store;
use rand::RngExt;
use rand::rngs::StdRng;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_config::{ConfiguredStrategy, RetryConfig};
use retry_core::quota::EvidenceQuota;
use retry_core::strategy::{LimitedRetryStrategy, Refund};
use retry_core::{ExponentialBackoff, Hedge, RetryQuota, ScopedRetryStrategy, StandardRetryStrategy, Stop, retry};
use retry_limits::{ConcurrencyLimiter, PacedLimiter, Pair};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const BASE: Duration = Duration::from_millis(5);
const CAP: Duration = Duration::from_millis(60);
/// The time limit of an attempt.
pub(crate) const ATTEMPT: Duration = Duration::from_millis(300);
/// The largest number of scopes that are kept, of the many that are used.
pub(crate) const SCOPES: u32 = 40;
const TENANTS_USED: u32 = 400;

pub(crate) static API: LazyLock<ConfiguredStrategy> =
    LazyLock::new(|| settings().build_on(StandardRetryStrategy::new()).unwrap());
pub(crate) static TENANTS: ScopedRetryStrategy<u32, ConfiguredStrategy> =
    ScopedRetryStrategy::new(|| settings().build_on(StandardRetryStrategy::new()).unwrap()).max_scopes(SCOPES as usize);
static LIMITED: LimitedRetryStrategy<Pair<PacedLimiter, ConcurrencyLimiter>> = LimitedRetryStrategy::with_limiter(
    StandardRetryStrategy::new().backoff(BASE, CAP).throttling_base(BASE),
    Pair(PacedLimiter::new(), ConcurrencyLimiter::new().max_in_flight(20)),
);
static READS: Hedge = Hedge::p95();
static DATABASE: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new());

/// The settings of the configured strategies, unless they are changed.
pub(crate) const fn settings() -> RetryConfig {
    RetryConfig::new().backoff(BASE, CAP).throttling_base(BASE)
}

/// One round.
pub(crate) struct World {
    pub(crate) http: reqwest::Client,
    pub(crate) address: SocketAddr,
    pub(crate) service: Arc<Service>,
    pub(crate) store: Store,
    pub(crate) tally: Tally,
    pub(crate) stop: Stop,
    ledger: Ledger,
    reads: Arc<StandardRetryStrategy>,
    operations: AtomicU64,
}

impl World {
    pub(crate) fn new(address: SocketAddr, service: Arc<Service>, random: &mut StdRng) -> reqwest::Result<Self> {
        let reads = StandardRetryStrategy::new()
            .backoff(BASE, CAP)
            .throttling_base(BASE)
            .retry_costs(COSTS)
            .refunds(0, Refund::LastCost)
            .quota_capacity(if random.random() { 200 } else { 20_000 });
        let http = reqwest::Client::builder().retry(reqwest::retry::never()).no_proxy().build()?;
        Ok(Self {
            http,
            address,
            service,
            store: Store::new(random.random()),
            tally: Tally::default(),
            stop: Stop::new(),
            ledger: Ledger::default(),
            reads: Arc::new(reads),
            operations: AtomicU64::new(0),
        })
    }

    /// Makes one attempt of a request.
    pub(crate) async fn get(&self, path: &str) -> Result<(), ClientError> {
        let url = format!("http://{}/{path}", self.address);
        self.http.get(url).send().await?.error_for_response().await?.bytes().await?;
        Ok(())
    }

    /// Makes operations until the round ends or the task is cancelled.
    pub(crate) async fn work(&self, mut random: StdRng) {
        while !self.stop.is_stopped() {
            match random.random_range(0..13) {
                // Its limiter makes it slow.
                0 => self.limited().await,
                1..4 => self.read(random.random()).await,
                4..7 => self.write().await,
                7..10 => self.tenant(random.random_range(0..TENANTS_USED)).await,
                _ => self.transfer().await,
            }
            tokio::time::sleep(Duration::from_millis(random.random_range(0..10))).await;
        }
    }

    async fn read(&self, is_hedged: bool) {
        let call = retry(Arc::clone(&self.reads), || self.get("read"))
            .idempotent(true)
            .observer(&self.ledger)
            .attempt_timeout(ATTEMPT)
            .max_time(MAX_TIME)
            .stop(&self.stop);
        if is_hedged {
            self.tally.count("hedged read", call.idempotent(true).hedge(&READS).report()).await;
        } else {
            self.tally.count("read", call.report()).await;
        }
    }

    /// A write that must not be carried out twice.
    async fn write(&self) {
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        let path = format!("write/{operation}");
        let call = retry(&*API, || self.get(&path)).idempotent(false);
        let call = call.attempt_timeout(ATTEMPT).max_time(MAX_TIME).stop(&self.stop);
        let outcome = self.tally.count("write", call.report()).await;
        Self::carried_out("writes", self.service.writes_of(operation), outcome.is_some_and(|outcome| outcome.is_ok()));
    }

    async fn limited(&self) {
        let call = retry(&LIMITED, || self.get("limited")).idempotent(true);
        let call = call.attempt_timeout(ATTEMPT).max_time(MAX_TIME).stop(&self.stop);
        self.tally.count("limited", call.report()).await;
    }

    async fn tenant(&self, key: u32) {
        let call = retry(TENANTS.scope(&key), || self.get("tenant")).idempotent(true);
        let call = call.attempt_timeout(ATTEMPT).max_time(MAX_TIME).stop(&self.stop);
        self.tally.count("tenant", call.report()).await;
    }

    /// A transfer that must not be committed twice.
    async fn transfer(&self) {
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        let call = retry(&DATABASE, || self.store.transfer(operation)).idempotent(false);
        let call = call.attempt_timeout(ATTEMPT).max_time(MAX_TIME).stop(&self.stop);
        let outcome = self.tally.count("transfer", call.report()).await;
        Self::carried_out(
            "transfers",
            self.store.commits_of(operation),
            outcome.is_some_and(|outcome| outcome.is_ok()),
        );
    }

    fn carried_out(what: &str, times: u32, is_done: bool) {
        if times > 1 || (is_done && times == 0) {
            problem(format!("one of the {what} was carried out {times} times"));
        }
    }

    /// Records what is never right, while operations run.
    pub(crate) fn watch(&self, workers: usize) {
        let level = self.reads.quota().available();
        if level > self.reads.quota().capacity() {
            problem(format!("the quota is at {level}, above its capacity"));
        }
        let (places, scopes) = (LIMITED.limiter().1.in_flight(), TENANTS.len());
        if places > 20 {
            problem(format!("{places} requests are in flight, above the limit"));
        }
        if scopes > SCOPES as usize + workers + 1 {
            problem(format!("{scopes} scopes, more than are kept and in use"));
        }
    }

    /// Records what operations have left behind, when none runs.
    pub(crate) async fn check(&self) {
        self.tally.check();
        self.store.check();
        for operation in 0..self.operations.load(Ordering::Relaxed) {
            let times = self.service.writes_of(operation).max(self.store.commits_of(operation));
            Self::carried_out("operations", times, false);
        }
        self.ledger.check(self.reads.quota());
        equal("requests in flight", LIMITED.limiter().1.in_flight(), 0);
        // With as many scopes in use as are kept, the map has no others, unless somebody still holds them.
        let held: Vec<_> = (0..SCOPES).map(|number| TENANTS.scope(&(TENANTS_USED + number))).collect();
        equal("scopes", TENANTS.len(), held.len());
        let standard = LIMITED.standard();
        // Successes fill the quotas again.
        for _ in 0..standard.quota().capacity() {
            let _: Result<(), ClientError> = retry(&standard, || async { Ok(()) }).run().await;
        }
        equal("the quota after successes", standard.quota().available(), standard.quota().capacity());
        for _ in 0..API.quota().capacity() {
            let _: Result<(), ClientError> = retry(&*API, || async { Ok(()) }).run().await;
        }
        equal("the configured quota after successes", API.quota().available(), API.quota().capacity());
    }
}
