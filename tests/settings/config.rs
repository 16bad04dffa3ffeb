//! Settings that are read at run time, and the strategies built from them.

mod botocore;
mod file;
mod keys;
mod live;
mod live_limits;
mod parts;
mod process;
mod quota_kind;
mod sections;
mod sources;
mod text_form;

use crate::support::{Failed, Flaky, assert_send, millis, poll_once, secs};
use retry_config::{ConfigSource, ConfiguredStrategy, ConfiguredToken, RetryConfig, RetryMode};
use retry_core::limit::Ready;
use retry_core::strategy::{ForeignToken, HintLimit};
use retry_core::{
    Clock, Failure, Jitter, RetryError, RetryErrorType, RetryQuota, RetryStrategy, RetryToken, ScopedRetryStrategy,
    StandardRetryStrategy, Success, TokioTimer, retry, retryable,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, LazyLock};

const CLOCK: &dyn Clock = &TokioTimer;

/// A temporary directory, removed at the end of the test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

/// An environment that belongs to the test.
fn variables<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
    |name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
}

fn in_mode(mode: RetryMode) -> ConfiguredStrategy {
    RetryConfig::new().mode(mode).build_on(StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))).unwrap()
}

const MODES: [RetryMode; 2] = [RetryMode::Standard, RetryMode::Adaptive];

// Rule C16.
#[test]
fn settings_override_the_base_and_the_others_keep_its_values() {
    let preset = StandardRetryStrategy::aws_2_1;
    let bases = |strategy: &ConfiguredStrategy| {
        let backoff = strategy.backoff_strategy();
        (backoff.base(RetryErrorType::Other), backoff.base(RetryErrorType::Throttling), backoff.cap())
    };

    let silent = RetryConfig::new().build_on(preset()).unwrap();
    assert!(silent.mode() == RetryMode::Standard);
    assert_eq!(silent.settings(), preset().settings());
    assert_eq!(bases(&silent), (millis(50), secs(1), secs(20)));
    assert_eq!(silent.quota().capacity(), 500);
    assert_eq!(ConfiguredStrategy::default().settings(), StandardRetryStrategy::new().settings());

    let full = RetryConfig::new()
        .mode(RetryMode::Adaptive)
        .try_max_attempts(7)
        .unwrap()
        .backoff(millis(10), secs(2))
        .throttling_base(millis(300))
        .max_retry_after(Some(secs(9)))
        .quota_capacity(42);
    let strategy = full.build_on(preset()).unwrap();
    let settings = strategy.settings();
    assert!(strategy.mode() == RetryMode::Adaptive);
    assert_eq!((settings.max_attempts, settings.max_retry_after), (7, Some(secs(9))));
    assert_eq!(bases(&strategy), (millis(10), millis(300), secs(2)));
    assert_eq!((strategy.quota().capacity(), strategy.quota().available()), (42, 42));
    assert_eq!(settings.hint_limit, HintLimit::BeyondBackoff(secs(5)), "a setting that is not set is that of the base");
    assert_eq!(settings.costs, preset().settings().costs);

    let backoff_alone = RetryConfig::new().backoff(millis(10), secs(2)).build_on(preset()).unwrap();
    assert_eq!(bases(&backoff_alone), (millis(10), secs(1), secs(2)), "the preset's base after throttling is kept");
    let throttling_alone = RetryConfig::new().throttling_base(secs(3)).build_on(preset()).unwrap();
    assert_eq!(bases(&throttling_alone), (millis(50), secs(3), secs(20)));
}

// Rule C1.
#[test]
fn settings_can_be_read_back() {
    let config = RetryConfig::new();
    assert_eq!((config.mode_setting(), config.source_of("mode")), (None, None));
    assert_eq!((config.max_attempts_setting(), config.source_of("max_attempts")), (None, None));
    assert_eq!((config.base_setting(), config.cap_setting(), config.throttling_base_setting()), (None, None, None));
    assert_eq!((config.max_retry_after_setting(), config.quota_capacity_setting()), (None, None));

    let config = RetryConfig::new().mode(RetryMode::Standard).try_max_attempts(2).unwrap().backoff(secs(1), secs(2));
    let config = config.throttling_base(secs(3)).max_retry_after(Some(secs(4))).quota_capacity(5);
    assert_eq!(config.mode_setting(), Some(RetryMode::Standard));
    assert_eq!(config.source_of("mode"), Some(&ConfigSource::Code));
    assert_eq!(config.max_attempts_setting(), Some(2));
    assert_eq!(config.source_of("max_attempts"), Some(&ConfigSource::Code));
    assert_eq!((config.base_setting(), config.cap_setting()), (Some(secs(1)), Some(secs(2))));
    assert_eq!(config.throttling_base_setting(), Some(secs(3)));
    assert_eq!(config.max_retry_after_setting(), Some(Some(secs(4))));
    assert_eq!(config.quota_capacity_setting(), Some(5));
}

// Rule C16.
#[test]
fn each_build_creates_a_new_quota() {
    let config = RetryConfig::new().quota_capacity(10);
    let (one, other) = (
        config.build_on(StandardRetryStrategy::new()).unwrap(),
        config.build_on(StandardRetryStrategy::new()).unwrap(),
    );
    assert!(one.quota().try_acquire(10, CLOCK));
    assert_eq!(other.quota().available(), 10);
}

fn second(strategy: &ConfiguredStrategy) -> ConfiguredToken {
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
}

#[test]
fn a_token_forwards_to_the_token_of_the_mode() {
    for mode in MODES {
        let strategy = in_mode(mode);
        assert_eq!(strategy.mode(), mode);
        let mut token = second(&strategy);
        assert_eq!((token.attempt(), token.retry_count(), token.delay()), (2, 1, secs(1)));
        assert_eq!(strategy.ready(&mut token, CLOCK, None), Ready::Now);
        assert_eq!(strategy.quota().available(), 495);
        strategy.release(token);
        assert_eq!(strategy.quota().available(), 500);
        assert_eq!(strategy.record_success(second(&strategy), &Success::default(), CLOCK), Ok(()));
        assert_eq!(strategy.quota().available(), 496);
    }
}

// Rule R13.
#[test]
fn a_foreign_token_is_refused_and_nothing_is_changed() {
    for (ours, theirs) in MODES.into_iter().flat_map(|ours| MODES.map(|theirs| (ours, theirs))) {
        let (ours, theirs) = (in_mode(ours), in_mode(theirs));
        assert!(ours.quota().try_acquire(100, CLOCK));
        let refused = ours.refresh_retry_token(second(&theirs), &Failure::of(&Failed::THROTTLED), CLOCK);
        assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
        assert_eq!(ours.record_success(second(&theirs), &Success::default(), CLOCK), Err(ForeignToken));
        assert_eq!(ours.ready(&mut second(&theirs), CLOCK, None), Ready::Now);
        ours.release(second(&theirs));
        assert_eq!(ours.quota().available(), 400);
        assert_eq!(ours.send_rate(), None, "nothing was learned from the throttling");
    }
}

#[tokio::test(start_paused = true)]
async fn the_adaptive_mode_limits_sends() {
    let strategy = in_mode(RetryMode::Adaptive);
    let flaky = Flaky::new(1, Failed::THROTTLED);
    retry(&strategy, || async { flaky.call() }).run().await.unwrap();
    assert!(strategy.send_rate().is_some());
}

// Rule D1.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_dropped_while_it_waits_is_refunded() {
    for mode in MODES {
        let strategy = in_mode(mode);
        {
            let flaky = Flaky::new(u32::MAX, Failed::SAFE);
            let mut call = pin!(retry(&strategy, || async { flaky.call() }).run());
            poll_once(call.as_mut());
            assert_eq!(strategy.quota().available(), 495);
        }
        assert_eq!(strategy.quota().available(), 500);
    }
}

macro_rules! lazily {
    ($mode:expr, $attempts:expr) => {
        LazyLock::new(|| {
            RetryConfig::new()
                .mode($mode)
                .try_max_attempts($attempts)
                .unwrap()
                .build_on(StandardRetryStrategy::new())
                .unwrap()
        })
    };
}

#[tokio::test(start_paused = true)]
async fn the_attribute_accepts_a_lazily_configured_static() {
    static STANDARD: LazyLock<ConfiguredStrategy> = lazily!(RetryMode::Standard, 3);
    static ADAPTIVE: LazyLock<ConfiguredStrategy> = lazily!(RetryMode::Adaptive, 4);

    #[retryable(strategy = STANDARD)]
    async fn standard(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }
    #[retryable(strategy = ADAPTIVE)]
    async fn adaptive(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let flaky = [(); 2].map(|()| Flaky::new(u32::MAX, Failed::SAFE));
    assert_send(standard(&flaky[0])).await.unwrap_err();
    assert_send(adaptive(&flaky[1])).await.unwrap_err();
    assert_eq!(flaky.map(|flaky| flaky.calls()), [3, 4]);
    assert_eq!(STANDARD.quota().available(), 490);
    assert_eq!(ADAPTIVE.quota().available(), 485);
}

#[tokio::test(start_paused = true)]
async fn the_attribute_accepts_a_configured_strategy_in_a_field_or_an_arc() {
    struct Client {
        retry: ConfiguredStrategy,
        shared: Arc<ConfiguredStrategy>,
        calls: u32,
    }
    impl Client {
        #[retryable(strategy = self.retry)]
        async fn own(&mut self) -> Result<(), Failed> {
            self.calls += 1;
            Err(Failed::SAFE)
        }
        #[retryable(strategy = Arc::clone(&self.shared))]
        async fn shared(&mut self) -> Result<(), Failed> {
            self.calls += 1;
            Err(Failed::SAFE)
        }
    }

    let attempts = |attempts| {
        RetryConfig::new().try_max_attempts(attempts).unwrap().build_on(StandardRetryStrategy::new()).unwrap()
    };
    let mut client = Client { retry: attempts(2), shared: Arc::new(attempts(3)), calls: 0 };
    client.own().await.unwrap_err();
    assert_eq!(client.calls, 2);
    client.shared().await.unwrap_err();
    assert_eq!(client.calls, 5);
}

#[test]
fn a_configured_strategy_can_be_used_in_scopes() {
    static SCOPES: ScopedRetryStrategy<String, ConfiguredStrategy> = ScopedRetryStrategy::new(|| {
        RetryConfig::new().quota_capacity(7).build_on(StandardRetryStrategy::new()).unwrap()
    });
    assert_eq!(SCOPES.scope("bucket").quota().capacity(), 7);
}
