//! Configured strategies whose backoff, quota or limit code has chosen.

use super::{CLOCK, variables};
use crate::support::{ByHand, Failed, millis, secs};
use retry_config::{ConfigError, ConfiguredStrategy, RetryConfig, RetryMode, RetryPreset};
use retry_core::backoff::LinearBackoff;
use retry_core::limit::Ready;
use retry_core::quota::NoQuota;
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, Clock, ExponentialBackoff, Failure, Jitter, PatientRetryStrategy,
    RetryError, RetryErrorType, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokenBucket,
};
use retry_limits::PacedRetryStrategy;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A quota that counts what is paid from it.
#[derive(Debug, Default)]
struct Counted(AtomicU32);

impl RetryQuota for Counted {
    fn try_acquire(&self, cost: u32, _: &dyn Clock) -> bool {
        self.0.fetch_add(cost, Ordering::Relaxed);
        true
    }

    fn refund(&self, amount: u32) {
        self.0.fetch_sub(amount, Ordering::Relaxed);
    }

    fn available(&self) -> u32 {
        u32::MAX - self.0.load(Ordering::Relaxed)
    }
}

fn read(text: &str) -> RetryConfig {
    let document = toml::Deserializer::parse(text).unwrap();
    RetryConfig::from_file_section("settings.toml", "store", document).unwrap()
}

/// Returns the delays of an operation that fails until it gives up, and the reason.
fn delays(strategy: &impl RetryStrategy, failure: Failed) -> (Vec<u128>, RetryError) {
    let (mut delays, mut token) = (Vec::new(), strategy.acquire_initial_token(CLOCK).unwrap());
    loop {
        match strategy.refresh_retry_token(token, &Failure::of(&failure), CLOCK) {
            Ok(next) => {
                delays.push(next.delay().as_millis());
                token = next;
            }
            Err(reason) => return (delays, reason),
        }
    }
}

fn no_jitter() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::None)
}

// Rules C22, C19.
#[test]
fn a_quota_of_the_users_own_is_kept_and_the_other_settings_are_set() {
    let quota = Counted::default();
    let config = read("[store]\nmax_attempts = 3\nbackoff.base = \"10ms\"\nquota.costs.other = 7\nmode = \"standard\"");
    let strategy = config.build_on(no_jitter().with_quota(&quota)).unwrap();
    assert_eq!(delays(&strategy, Failed::SAFE), (vec![10, 20], RetryError::MaxAttempts));
    assert_eq!(quota.0.load(Ordering::Relaxed), 14);
    strategy.apply(&read("[store]\nmax_attempts = 2"), CLOCK).unwrap();
    assert_eq!(delays(&strategy, Failed::SAFE), (vec![1000], RetryError::MaxAttempts));
    assert_eq!((quota.0.load(Ordering::Relaxed), strategy.quota_level()), (19, Some(u32::MAX - 19)));
}

// Rule C22.
#[test]
fn a_backoff_of_the_code_is_kept_and_an_exponential_one_is_set_by_a_pointer_too() {
    let linear = || LinearBackoff::new(millis(7), secs(1)).jitter(Jitter::None);
    let config = read("[store]\npreset = \"aws_2_1\"\nmax_attempts = 4");
    let strategy = config.build_on(StandardRetryStrategy::new().with_backoff(linear())).unwrap();
    assert_eq!(delays(&strategy, Failed::SAFE), (vec![7, 14, 21], RetryError::MaxAttempts));

    let exponential = Arc::new(ExponentialBackoff::new(secs(1), secs(20)).jitter(Jitter::None));
    let config = read("[store]\nbackoff.base = \"5ms\"\nmax_attempts = 3");
    let strategy = config.build_on(StandardRetryStrategy::new().with_backoff(exponential)).unwrap();
    assert_eq!(delays(&strategy, Failed::SAFE), (vec![5, 10], RetryError::MaxAttempts));
}

/// A backoff whose methods all differ from the defaults.
struct Own;

impl BackoffStrategy for Own {
    fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
        millis(3)
    }

    fn max_backoff(&self) -> Duration {
        millis(40)
    }

    fn random_part(&self, most: Duration) -> Duration {
        most / 2
    }
}

// Rules C22, R16.
#[test]
fn each_method_of_a_backoff_of_the_code_is_used() {
    let delay = |preset: RetryPreset, failure| {
        let config = RetryConfig::new().preset(preset).try_max_attempts(2).unwrap();
        let strategy = config.build_on(StandardRetryStrategy::new().with_backoff(Own)).unwrap();
        delays(&strategy, failure).0
    };
    assert_eq!(delay(RetryPreset::Default, Failed::SAFE), [3]);
    // A tenth of the wait that the server asks for, of which the backoff takes the half.
    assert_eq!(delay(RetryPreset::Default, Failed::SAFE.after(secs(10))), [10_500]);
    // This preset cuts the wait to the longest backoff.
    assert_eq!(delay(RetryPreset::Aws20, Failed::SAFE.after(secs(10))), [40]);
}

// Rules C20, C22.
#[test]
fn a_bucket_by_a_pointer_is_set_by_its_keys_only() {
    let bucket = Arc::new(TokenBucket::new(100));
    let build = |config: RetryConfig| config.build_on(no_jitter().with_quota(Arc::clone(&bucket))).unwrap();
    assert!(bucket.try_acquire(50, CLOCK));
    let first = build(RetryConfig::new().preset(RetryPreset::Aws20));
    assert_eq!((bucket.capacity(), bucket.available()), (100, 50), "the preset says 500");
    let second = build(read("[store]\nquota = { capacity = 40, refill = { amount = 1, every = \"1s\" } }"));
    assert_eq!((bucket.capacity(), bucket.available()), (40, 20));
    assert_eq!(bucket.refill_setting(), Some((1, secs(1))));
    first.apply(&RetryConfig::new().try_max_attempts(2).unwrap(), CLOCK).unwrap();
    assert_eq!(bucket.capacity(), 40, "the other strategy has set it");
    second.apply(&RetryConfig::new().quota_capacity(80), CLOCK).unwrap();
    assert_eq!((bucket.capacity(), bucket.refill_setting()), (80, None));
    second.apply(&RetryConfig::new(), CLOCK).unwrap();
    assert_eq!(bucket.capacity(), 100);
}

/// A quota that notes the successes, and needs none at the first attempt.
#[derive(Debug, Default)]
struct Full(RefCell<Vec<&'static str>>);

impl RetryQuota for Full {
    fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
        true
    }

    fn refund(&self, _: u32) {}

    fn available(&self) -> u32 {
        1
    }

    fn first_succeeded(&self, _: u32) {
        self.0.borrow_mut().push("first");
    }

    fn retry_succeeded(&self, _: u32, _: u32) {
        self.0.borrow_mut().push("retry");
    }

    fn is_full(&self) -> bool {
        true
    }
}

// Rule C22.
#[test]
fn a_full_quota_of_the_users_own_records_the_successes_of_retries_only() {
    let strategy = RetryConfig::new().build_on(no_jitter().with_quota(Full::default())).unwrap();
    let mut token = strategy.acquire_initial_token(CLOCK).unwrap();
    strategy.record_success(token, &Success::default(), CLOCK).unwrap();
    assert_eq!(strategy.quota().0.take(), [""; 0]);
    token = strategy.acquire_initial_token(CLOCK).unwrap();
    token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap();
    strategy.record_success(token, &Success::default(), CLOCK).unwrap();
    assert_eq!(strategy.quota().0.take(), ["retry"]);
}

/// Returns how many throttled attempts an operation makes.
fn throttled_attempts(strategy: &impl RetryStrategy) -> usize {
    delays(strategy, Failed::THROTTLED).0.len() + 1
}

/// Throttles an operation each second until it gives up, and returns the time from the first throttling.
fn gives_up_after(strategy: &impl RetryStrategy) -> Duration {
    let clock = ByHand::at(secs(1_000_000_000));
    let (throttled, started) = (Failure::of(&Failed::THROTTLED), clock.time());
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    while let Ok(next) = strategy.refresh_retry_token(token, &throttled, &clock) {
        token = next;
        clock.advance(secs(1));
    }
    clock.time().saturating_sub(started)
}

// Rules C22, C19, L7.
#[test]
fn a_limit_of_the_code_is_kept_and_its_settings_are_set() {
    let config =
        read("[store]\npaced = { ramp = false, max_throttled_time = \"3s\" }\nmode = \"paced\"\nmax_attempts = 9");
    let strategy = config.build_on(PacedRetryStrategy::over(no_jitter().with_quota(NoQuota))).unwrap();
    assert_eq!(
        (strategy.mode(), strategy.paced_ramp(), strategy.paced_max_throttled_time()),
        (RetryMode::Paced, false, secs(3))
    );
    assert_eq!((gives_up_after(&strategy), strategy.settings().max_attempts), (secs(3), 9));
    assert!(strategy.send_rate().is_some(), "the throttling began the limit");
    strategy.apply(&RetryConfig::new().paced_max_throttled_time(secs(5)), CLOCK).unwrap();
    assert_eq!(gives_up_after(&strategy), secs(5));

    // What the code set is kept as well.
    let strategy =
        RetryConfig::new().build_on(PacedRetryStrategy::new().ramp(false).max_throttled_time(secs(2))).unwrap();
    assert_eq!((strategy.paced_ramp(), gives_up_after(&strategy)), (false, secs(2)));

    let strategy = RetryConfig::new().build_on(AdaptiveRetryStrategy::over(no_jitter())).unwrap();
    assert_eq!(strategy.mode(), RetryMode::Adaptive);
    assert_eq!(throttled_attempts(&strategy), 5);
    assert_eq!(strategy.send_rate(), Some(0.5));
}

fn refused<T>(result: Result<T, ConfigError>) -> (&'static str, String, String) {
    let error = result.err().expect("an error");
    (error.part().unwrap(), error.key().unwrap(), error.to_string())
}

// Rule C27.
#[test]
fn a_patient_strategy_has_the_settings_of_a_file_and_keeps_its_waits_and_its_name() {
    let file = |text: &str| read(&format!("[store]\n{text}"));
    let name = |strategy: &PatientRetryStrategy| RetryStrategy::name(strategy).unwrap().as_str().to_owned();

    let config = file(
        "max_attempts = 3\nmax_retry_after = \"1m\"\nbackoff = { base = \"100ms\", cap = \"150ms\", jitter = \"none\" }",
    );
    let strategy = config.build_on(PatientRetryStrategy::new().name("store")).unwrap();
    assert_eq!((name(&strategy), strategy.is_enabled()), ("store".to_owned(), true));
    assert_eq!(strategy.standard().settings().max_retry_after, Some(secs(60)));
    assert_eq!(delays(&strategy, Failed::SAFE), (vec![100, 150], RetryError::MaxAttempts));
    // What is not set comes from the strategy.
    let strategy = RetryConfig::new().build_on(PatientRetryStrategy::new()).unwrap();
    assert_eq!(strategy.standard().settings(), PatientRetryStrategy::new().standard().settings());
    // A strategy that is off stays off.
    assert!(!file("mode = \"off\"").build_on(PatientRetryStrategy::new()).unwrap().is_enabled());
    let off = || StandardRetryStrategy::new().enabled(false);
    assert!(!file("mode = \"standard\"").build_on(PatientRetryStrategy::over(off())).unwrap().is_enabled());

    // The settings of the waits stay, and a bucket has its own settings.
    let empty = || PatientRetryStrategy::over(no_jitter().with_quota(TokenBucket::new(0)));
    let impatient = || empty().max_wait_for_service(Duration::ZERO);
    let first = |strategy: &PatientRetryStrategy<ExponentialBackoff, TokenBucket>| {
        let token = strategy.acquire_initial_token(CLOCK).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).map(|token| token.delay())
    };
    assert_eq!(first(&config.build_on(impatient()).unwrap()), Err(RetryError::QuotaExhausted));
    assert_eq!(first(&config.build_on(empty()).unwrap()), Ok(Duration::ZERO), "it waits for the service");
    let paying = config.quota_capacity(5).build_on(impatient()).unwrap();
    assert_eq!((first(&paying), paying.quota().available()), (Ok(millis(100)), 0));
}

// Rules C23, C27.
#[test]
fn a_patient_strategy_has_no_mode_and_no_settings_of_a_limiter() {
    for (text, part, key) in [
        ("mode = \"adaptive\"", "strategy", "store.mode"),
        ("mode = \"paced\"", "strategy", "store.mode"),
        ("paced.ramp = true", "strategy", "store.paced.ramp"),
        ("quota.capacity = 7", "quota", "store.quota.capacity"),
        ("quota.kind = \"evidence\"", "quota", "store.quota.kind"),
        ("quota.costs.other = 7", "quota", "store.quota.costs.other"),
        ("quota.refunds.first_attempt = 7", "quota", "store.quota.refunds.first_attempt"),
    ] {
        let (found, of, message) = refused(read(&format!("[store]\n{text}")).build_on(PatientRetryStrategy::new()));
        assert_eq!((found, &*of), (part, key), "{message}");
    }
    let (.., message) = refused(RetryConfig::new().mode(RetryMode::Adaptive).build_on(PatientRetryStrategy::new()));
    assert_eq!(
        message,
        "code: invalid mode \"adaptive\": a PatientRetryStrategy has no limit on sends, so expected standard or off"
    );
    let (.., message) = refused(RetryConfig::new().quota_capacity(7).build_on(PatientRetryStrategy::new()));
    assert_eq!(message, "code: the key quota.capacity \"7\" can't be set: a quota by evidence has no such setting");
    let conflicts = read("[store]\nquota.costs.conflict = 7").build_on(PatientRetryStrategy::new()).unwrap();
    assert_eq!(conflicts.standard().settings().costs.of(RetryErrorType::Conflict), 7);
    let paying = PatientRetryStrategy::over(StandardRetryStrategy::new());
    assert!(read("[store]\nquota = { capacity = 7, costs.other = 7 }").build_on(paying).is_ok());
}

// Rules C6, C23.
#[test]
fn a_setting_that_a_part_of_the_code_does_not_have_is_an_error_that_names_both() {
    let own = || no_jitter().with_quota(Counted::default());
    let linear = || StandardRetryStrategy::new().with_backoff(LinearBackoff::new(millis(7), secs(1)));
    let file = |text: &str| read(&format!("[store]\n{text}"));
    let because = "can't be set: the quota of the strategy is not a TokenBucket";

    let (part, key, text) = refused(file("max_attempts = 2\nquota.capacity = 100").build_on(own()));
    assert_eq!((part, &*key), ("quota", "store.quota.capacity"));
    assert_eq!(text, format!("file \"settings.toml\": the key store.quota.capacity \"100\" {because}"));
    let refill = file("quota.refill = { amount = 10, every = \"1s\" }").build_on(own());
    assert_eq!(refused(refill).1, "store.quota.refill.amount");
    for (key, value) in [("base", "\"1s\""), ("cap", "\"1s\""), ("jitter", "\"none\"")] {
        let (part, found, _) = refused(file(&format!("backoff.{key} = {value}")).build_on(linear()));
        assert_eq!((part, found), ("backoff", format!("store.backoff.{key}")));
    }
    for key in [
        "paced.ramp = true",
        "paced.max_throttled_time = \"4s\"",
        "paced.rejections = \"timeouts\"",
        "paced.max_rate = 7",
    ] {
        assert_eq!(refused(file(key).build_on(AdaptiveRetryStrategy::new())).0, "limit");
    }
    // Of settings in code, there is no file to name. A setting that is set again comes from code.
    let (.., text) = refused(RetryConfig::new().quota_capacity(7).build_on(own()));
    assert_eq!(text, format!("code: the key quota.capacity \"7\" {because}"));
    assert_eq!(refused(file("quota.capacity = 100").quota_capacity(7).build_on(own())).2, text);
    let variables = RetryConfig::from_prefixed_variables("STORE_", [("STORE_QUOTA_CAPACITY", "7")]).unwrap();
    let combined = variables.or(file("quota.capacity = 100"));
    assert!(refused(combined.build_on(own())).2.starts_with("environment variable STORE_QUOTA_CAPACITY: "));
}

// Rule C23.
#[test]
fn the_files_of_the_documentation_fit_a_strategy() {
    for (name, page) in [
        ("production.md", include_str!("../../../docs/production.md").to_owned()),
        ("RetryConfig", include_str!("../../../retry-config/src/lib.rs").replace("/// ", "").replace("///", "")),
    ] {
        let (_, file) = page.split_once("```toml\n[store]").unwrap();
        let (file, _) = file.split_once("\n```\n").unwrap();
        let config = read(&format!("[store]{file}"));
        let strategy = config.build_on(StandardRetryStrategy::new()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((strategy.mode(), strategy.paced_max_rate()), (RetryMode::Paced, Some(100.0)), "{name}");
        let running = RetryConfig::new().build_on(StandardRetryStrategy::new()).unwrap();
        running.apply(&config, CLOCK).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

// Rules C6, C23.
#[test]
fn settings_of_the_mode_paced_without_a_mode_are_an_error() {
    let file = || read("[store.paced]\nmax_rate = 10");
    let message = "file \"settings.toml\": the key store.paced.max_rate \"10\" has no effect without a mode: \
                   write store.mode = \"paced\", or the mode that is meant";
    let strategy = ConfiguredStrategy::default();
    for result in [strategy.apply(&file(), CLOCK), file().build_on(no_jitter()).map(drop)] {
        let error = result.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.key().unwrap().as_str()), (message, "store.paced.max_rate"));
    }
    assert_eq!(strategy.paced_max_rate(), None);
    let variable = |name, value| RetryConfig::from_prefixed_variables("STORE_", [(name, value)]).unwrap();
    let error = variable("STORE_PACED_RAMP", "false").build_on(no_jitter()).unwrap_err();
    let message = "environment variable STORE_PACED_RAMP: the key paced.ramp \"false\" has no effect without a mode: \
                   set STORE_MODE=paced, or the mode that is meant";
    assert_eq!(error.to_string(), message);
    // The mode can come from another source, or from the strategy.
    let environment = RetryConfig::from_prefixed_variables("STORE_", [("STORE_MODE", "paced")]).unwrap();
    assert_eq!(environment.or(file()).build_on(no_jitter()).unwrap().mode(), RetryMode::Paced);
    assert_eq!(file().build_on(PacedRetryStrategy::new()).unwrap().paced_max_rate(), Some(10.0));
    // In another mode, settings that are not a limit wait.
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Off] {
        strategy.apply(&read("[store.paced]\nramp = false").mode(mode), CLOCK).unwrap();
        assert_eq!(strategy.mode(), mode);
    }
}

// Rules C6, C23.
#[test]
fn a_known_limit_in_a_mode_that_would_send_without_it_is_an_error() {
    let file = |mode: &str| read(&format!("[store]\n{mode}\npaced.max_rate = 10"));
    let message = |mode: &str, of: &str| {
        format!(
            "file \"settings.toml\": the key store.paced.max_rate \"10\" has no effect in the mode {mode} of {of}: \
             expected the mode paced or off, or no store.paced.max_rate"
        )
    };
    let strategy = ConfiguredStrategy::default();
    let variable = RetryConfig::from_prefixed_variables("API_RETRY_", [("API_RETRY_MODE", "adaptive")]).unwrap();
    let of_aws = RetryConfig::new().or_variables(variables(&[("AWS_RETRY_MODE", "standard"), ("HOME", "/none")]));
    for (config, mode, of) in [
        (file("mode = \"standard\""), "standard", "file \"settings.toml\""),
        (file("mode = \"adaptive\""), "adaptive", "file \"settings.toml\""),
        (file("").mode(RetryMode::Standard), "standard", "code"),
        (variable.or(file("mode = \"paced\"")), "adaptive", "environment variable API_RETRY_MODE"),
        (of_aws.unwrap().or(file("")), "standard", "environment variable AWS_RETRY_MODE"),
    ] {
        for result in [strategy.apply(&config, CLOCK), config.build_on(no_jitter()).map(drop)] {
            let error = result.unwrap_err();
            assert_eq!((error.to_string(), error.key().unwrap().as_str()), (message(mode, of), "store.paced.max_rate"));
        }
        assert_eq!(strategy.paced_max_rate(), None);
    }
    // The switch is for incidents.
    strategy.apply(&file("mode = \"off\""), CLOCK).unwrap();
    assert_eq!(strategy.mode(), RetryMode::Off);
}

// Rule C21.
#[test]
fn at_the_start_the_mode_off_keeps_a_limit_of_the_code_but_none_of_the_configuration() {
    fn sends_at_once(strategy: &impl RetryStrategy) -> usize {
        let clock = ByHand::at(secs(100));
        let send = || {
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            (strategy.ready(&mut token, &clock, None) == Ready::Now).then_some(token)
        };
        // A token that is released would give its send back.
        std::iter::from_fn(send).take(100).collect::<Vec<_>>().len()
    }
    let own = || PacedRetryStrategy::new().max_rate(50.0).burst(10);
    let limited = sends_at_once(&own());
    assert!((1..=10).contains(&limited), "{limited}");
    for mode in ["paced", "off"] {
        let config = read(&format!("[store]\nmode = \"{mode}\""));
        assert_eq!(sends_at_once(&config.build_on(own()).unwrap()), limited, "{mode}");
    }
    let told = |mode| read(&format!("[store]\nmode = \"{mode}\"\npaced = {{ max_rate = 50, burst = 10 }}"));
    assert_eq!(sends_at_once(&told("paced").build_on(no_jitter()).unwrap()), limited);
    assert_eq!(sends_at_once(&told("off").build_on(no_jitter()).unwrap()), 100);
}

// Rule C23.
#[test]
fn a_burst_without_the_limit_that_it_belongs_to_is_an_error() {
    let file = |burst: &str| read(&format!("[store]\nmode = \"paced\"\npaced.burst = {burst}"));
    let error = file("200").build_on(no_jitter()).unwrap_err();
    let message = "file \"settings.toml\": the key store.paced.burst \"200\" has no effect without store.paced.max_rate: \
                   set it as well, in sends per second";
    assert_eq!((error.to_string().as_str(), error.key().unwrap().as_str()), (message, "store.paced.burst"));
    let variables = [("STORE_MODE", "paced"), ("STORE_PACED_BURST", "200")];
    let error = RetryConfig::from_prefixed_variables("STORE_", variables).unwrap().build_on(no_jitter()).unwrap_err();
    let message = "environment variable STORE_PACED_BURST: the key paced.burst \"200\" has no effect without paced.max_rate: \
                   set STORE_PACED_MAX_RATE as well, in sends per second";
    assert_eq!(error.to_string(), message);
    // The limit can come from another source, or from the strategy. A burst of 1 is none.
    let told = RetryConfig::new().try_paced_max_rate(10.0).unwrap();
    assert_eq!(told.or(file("200")).build_on(no_jitter()).unwrap().paced_burst(), 200);
    assert_eq!(file("200").build_on(PacedRetryStrategy::new().max_rate(10.0)).unwrap().paced_burst(), 200);
    assert_eq!(file("1").build_on(no_jitter()).unwrap().paced_burst(), 1);
}

// Rules C6, C23.
#[test]
fn a_mode_that_contradicts_a_limit_of_the_code_is_an_error() {
    let text = |base: &str| format!("the limit was chosen in code, so expected {base} or off");
    let paced = |mode: &str| read(&format!("[store]\nmode = \"{mode}\"")).build_on(PacedRetryStrategy::new());
    let (part, key, message) = refused(paced("adaptive"));
    assert_eq!((part, &*key), ("limit", "store.mode"));
    assert_eq!(message, format!("file \"settings.toml\": invalid store.mode \"adaptive\": {}", text("paced")));
    assert_eq!(refused(paced("standard")).0, "limit");
    assert_eq!(paced("paced").unwrap().mode(), RetryMode::Paced);
    assert_eq!(paced("off").unwrap().mode(), RetryMode::Off);
    // Other settings do not contradict it.
    let preset = read("[store]\npreset = \"aws_2_0\"\nmode = \"adaptive\"").build_on(PacedRetryStrategy::new());
    assert_eq!(refused(preset), (part, key, message));
    let adaptive = RetryConfig::new().mode(RetryMode::Paced).build_on(AdaptiveRetryStrategy::new());
    assert_eq!(refused(adaptive).2, format!("code: invalid mode \"paced\": {}", text("adaptive")));
}

// Rules C3, C23.
#[test]
fn code_comes_before_a_mode_of_the_environment_and_the_files_of_aws() {
    let environment = RetryConfig::new().or_variables(variables(&[("AWS_RETRY_MODE", "standard"), ("HOME", "/none")]));
    let profile = RetryConfig::new().or_profile("default", Path::new("x.conf"), "[default]\nretry_mode = standard\n");
    for config in [environment.unwrap(), profile.unwrap()] {
        let strategy = config.build_on(AdaptiveRetryStrategy::new()).unwrap();
        assert_eq!(strategy.mode(), RetryMode::Adaptive);
        strategy.apply(&config, CLOCK).unwrap();
        assert_eq!(strategy.mode(), RetryMode::Adaptive);
    }
}

// Rule C23.
#[test]
fn settings_that_are_refused_while_running_change_nothing() {
    let strategy = RetryConfig::new().build_on(PacedRetryStrategy::over(no_jitter().with_quota(NoQuota))).unwrap();
    let two = || RetryConfig::new().try_max_attempts(2).unwrap();
    for (config, part) in [(two().quota_capacity(5), "quota"), (two().mode(RetryMode::Standard), "limit")] {
        assert_eq!(refused(strategy.apply(&config, CLOCK)).0, part);
        assert_eq!(strategy.settings().max_attempts, 5);
    }
    strategy.apply(&two().mode(RetryMode::Off), CLOCK).unwrap();
    assert_eq!((strategy.settings().max_attempts, strategy.mode()), (2, RetryMode::Off));
    strategy.apply(&two(), CLOCK).unwrap();
    assert_eq!(strategy.mode(), RetryMode::Paced);
}

/// Returns whether the second attempt of two that begin now has to wait.
fn waits(strategy: &ConfiguredStrategy, clock: &ByHand) -> bool {
    let ready = || {
        let mut token = strategy.acquire_initial_token(clock).unwrap();
        let ready = strategy.ready(&mut token, clock, None);
        strategy.release(token);
        ready
    };
    ready();
    ready() != Ready::Now
}

// Rule C24.
#[test]
fn a_rate_from_elsewhere_limits_a_configured_strategy_in_the_mode_paced() {
    let clock = ByHand::at(secs(100));
    let mode = |mode| RetryConfig::new().mode(mode).paced_ramp(false);
    let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new()).unwrap();
    assert!(!waits(&strategy, &clock));
    strategy.pace_at(Some(10.0), false, &clock);
    assert_eq!((waits(&strategy, &clock), strategy.send_rate()), (true, Some(10.0)));
    strategy.apply(&mode(RetryMode::Standard), &clock).unwrap();
    assert_eq!((waits(&strategy, &clock), strategy.send_rate()), (false, None));
    strategy.apply(&mode(RetryMode::Paced), &clock).unwrap();
    assert_eq!(strategy.send_rate(), Some(10.0));

    let chosen = RetryConfig::new().build_on(PacedRetryStrategy::new()).unwrap();
    chosen.pace_at(Some(20.0), false, &clock);
    assert_eq!(chosen.send_rate(), Some(20.0));
}
