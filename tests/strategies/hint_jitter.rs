//! The random part that is added to a wait that the server asks for.

use crate::support::{Failed, Flaky, millis, secs};
use retry_config::{RetryConfig, RetryMode, RetryPreset};
use retry_core::backoff::{ConstantBackoff, LinearBackoff, NoBackoff};
use retry_core::strategy::{DelaySource, HintJitter, HintLimit, StandardRetrySettings};
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, ErasedStrategy, Failure, Jitter, RetryError, RetryErrorType, RetryStrategy,
    RetryToken, StandardRetryStrategy, TokenBucket, TokioTimer, retry,
};
use retry_limits::PacedRetryStrategy;
use std::future::ready;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const fn new() -> StandardRetryStrategy {
    StandardRetryStrategy::new().quota_capacity(u32::MAX)
}

fn with<B>(backoff: B) -> StandardRetryStrategy<B> {
    StandardRetryStrategy::from_parts(StandardRetrySettings::new(), backoff, TokenBucket::new(u32::MAX))
}

/// Returns the delays and their sources of many operations that are asked for this wait.
fn drawn(strategy: &impl RetryStrategy, error: Failed) -> Vec<(Duration, DelaySource)> {
    let delay = |_| {
        let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
        let token = strategy.refresh_retry_token(token, &Failure::of(&error), &TokioTimer).unwrap();
        (token.delay(), token.delay_source())
    };
    (0..1000).map(delay).collect()
}

/// Returns the shortest and the longest delay of many operations that are asked for this wait.
#[track_caller]
fn spread(strategy: &impl RetryStrategy, hint: Duration) -> (Duration, Duration) {
    let drawn = drawn(strategy, Failed::SAFE.after(hint));
    assert!(drawn.iter().all(|(_, source)| *source == DelaySource::RetryAfter));
    let delays = || drawn.iter().map(|(delay, _)| *delay);
    (delays().min().unwrap(), delays().max().unwrap())
}

#[track_caller]
fn assert_spread((shortest, longest): (Duration, Duration), from: Duration, to: Duration) {
    let margin = to.saturating_sub(from) / 50;
    assert!((from..from + margin).contains(&shortest), "{shortest:?}, from {from:?} to {to:?}");
    assert!((to.saturating_sub(margin)..to).contains(&longest), "{longest:?}, from {from:?} to {to:?}");
}

// Rules B10, N14.
#[tokio::test(start_paused = true)]
async fn clients_that_were_told_the_same_time_do_not_return_together() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(2);
    let (started, mut clients) = (Instant::now(), JoinSet::new());
    for _ in 0..20 {
        clients.spawn(async move {
            let mut times = Vec::new();
            let attempt = || {
                times.push(started.elapsed());
                ready(Err::<(), _>(Failed::THROTTLED.after(secs(1))))
            };
            assert!(retry(&STRATEGY, attempt).run().await.is_err());
            times[1]
        });
    }
    let mut returned = clients.join_all().await;
    returned.sort();
    // Tokio's sleeps end up to a millisecond late.
    assert!(returned[0] >= secs(1) && returned[19] <= millis(1101), "{returned:?}");
    assert!(returned[19] > returned[0] + millis(10), "{returned:?}");
}

// Rules B4, B5, B10, N14.
#[test]
fn up_to_a_tenth_is_added_and_at_most_5_s() {
    assert_spread(spread(&new(), secs(2)), secs(2), millis(2200));
    assert_spread(spread(&new(), secs(50)), secs(50), secs(55));
    assert_spread(spread(&new(), secs(200)), secs(200), secs(205));
    // The longest wait is judged without it.
    assert_spread(spread(&new(), secs(300)), secs(300), secs(305));
    let strategy = new();
    let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    let failure = Failure::of(&Failed::SAFE.after(secs(300) + Duration::from_nanos(1)));
    let refused = strategy.refresh_retry_token(token, &failure, &TokioTimer);
    assert_eq!(refused.err(), Some(RetryError::RetryAfterTooLong));

    for preset in [StandardRetryStrategy::aws_2_0(), StandardRetryStrategy::aws_2_1().throttling_base(millis(1))] {
        let preset = preset.quota_capacity(u32::MAX);
        assert_eq!(preset.settings().hint_jitter, HintJitter::NONE);
        assert_eq!(spread(&preset, secs(4)), (secs(4), secs(4)));
    }
}

// Rules B10, C1.
#[test]
fn it_is_a_setting() {
    let half = HintJitter::new(50, secs(7));
    assert_eq!(
        (half.percent(), half.at_most(), half.most(secs(4)), half.most(secs(40))),
        (50, secs(7), secs(2), secs(7))
    );
    assert_spread(spread(&new().hint_jitter(half), secs(4)), secs(4), secs(6));
    assert_spread(spread(&new().hint_jitter(HintJitter::new(300, Duration::MAX)), secs(4)), secs(4), secs(16));
    assert_eq!(spread(&new().hint_jitter(HintJitter::NONE), secs(4)), (secs(4), secs(4)));
    // It is added after the wait was cut.
    let cut = new().hint_limit(HintLimit::MaxBackoff);
    assert_spread(spread(&cut, secs(200)), secs(20), secs(22));
    let cap = new().backoff(secs(1), secs(10)).hint_limit(HintLimit::MaxBackoff);
    assert_spread(spread(&cap, secs(200)), secs(10), secs(11));

    let config = RetryConfig::new().hint_jitter(half);
    assert_eq!(config.hint_jitter_percent_setting(), Some(50));
    assert_eq!(config.hint_jitter_at_most_setting(), Some(secs(7)));
    let preset = RetryConfig::new().preset(RetryPreset::Aws20);
    let strategy = preset.clone().hint_jitter(half).build_on(new()).unwrap();
    assert_eq!(strategy.settings().hint_jitter, half);
    assert_eq!(preset.build_on(StandardRetryStrategy::new()).unwrap().settings().hint_jitter, HintJitter::NONE);
    strategy.apply(&RetryConfig::new(), &TokioTimer).unwrap();
    assert_eq!(strategy.settings().hint_jitter, StandardRetrySettings::new().hint_jitter);
}

// Rules B8, B10.
#[test]
fn it_is_drawn_from_the_random_numbers_of_the_backoff() {
    let delays = |strategy: StandardRetryStrategy| drawn(&strategy, Failed::SAFE.after(secs(30)));
    assert!(delays(new().seed(7)) == delays(new().seed(7)));
    assert!(delays(new().seed(7)) != delays(new().seed(8)));
    assert!(delays(new()) != delays(new()));
    assert_spread(spread(&new().jitter(Jitter::Equal), secs(30)), secs(30), secs(33));
    for exact in [Jitter::None, Jitter::Fixed(0.0), Jitter::Fixed(0.5), Jitter::Fixed(1.0)] {
        assert_eq!(spread(&new().jitter(exact), secs(30)), (secs(30), secs(30)), "{exact:?}");
    }

    let constant = || ConstantBackoff::new(secs(1));
    assert_eq!(spread(&with(constant()), secs(30)), (secs(30), secs(30)), "it has no jitter");
    assert_spread(spread(&with(constant().jitter(Jitter::Full)), secs(30)), secs(30), secs(33));
    assert_spread(spread(&with(LinearBackoff::new(secs(1), secs(9))), secs(30)), secs(30), secs(33));
    assert_eq!(spread(&with(NoBackoff), secs(30)), (secs(30), secs(30)));
}

/// A backoff of a user.
struct Own {
    delay: Duration,
}

impl BackoffStrategy for Own {
    fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
        self.delay
    }
}

// Rule B10.
#[test]
fn nothing_is_added_where_the_backoff_decides() {
    let strategy = with(Own { delay: secs(8) });
    for hint in [secs(0), secs(7), secs(8)] {
        let drawn = drawn(&strategy, Failed::SAFE.after(hint));
        assert!(drawn.iter().all(|drawn| *drawn == (secs(8), DelaySource::Backoff)), "{hint:?}");
    }
    // A backoff of a user draws from the random numbers of the process.
    assert_spread(spread(&strategy, secs(20)), secs(20), secs(22));
}

// Rules B6, B10.
#[test]
fn nothing_overflows() {
    let longest = new().max_retry_after(None).hint_jitter(HintJitter::new(u32::MAX, Duration::MAX));
    for hint in [Duration::MAX, Duration::MAX / 2, Duration::from_nanos(u64::MAX)] {
        let (shortest, _) = spread(&longest, hint);
        assert!(shortest >= hint);
    }
    assert_eq!(spread(&new().max_retry_after(None), Duration::MAX), (Duration::MAX, Duration::MAX));
    assert_eq!(HintJitter::new(u32::MAX, Duration::MAX).most(Duration::MAX), Duration::MAX);
    assert_eq!(HintJitter::new(10, Duration::MAX).most(Duration::MAX), Duration::MAX / 100 * 10);
}

// Rules B10, L8.
#[test]
fn it_is_added_by_every_strategy() {
    let (hint, most) = (secs(30), secs(33));
    assert_spread(spread(&AdaptiveRetryStrategy::over(new()), hint), hint, most);
    assert_spread(spread(&PacedRetryStrategy::over(new()), hint), hint, most);
    assert_spread(spread(&ErasedStrategy::new(new()), hint), hint, most);
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        assert_spread(spread(&RetryConfig::new().mode(mode).build_on(new()).unwrap(), hint), hint, most);
    }
    // The paced strategy has its own stretch for throttled attempts.
    let paced = PacedRetryStrategy::over(new()).ramp(false);
    let stretched = |hint| {
        let mut delays: Vec<_> =
            drawn(&paced, Failed::THROTTLED.after(hint)).into_iter().map(|(delay, _)| delay).collect();
        delays.sort();
        (delays[0], delays[delays.len() - 1])
    };
    assert_spread(stretched(secs(1)), secs(1), millis(1100));
    let (shortest, longest) = stretched(secs(300));
    assert!(shortest >= secs(300) && longest <= secs(305) && longest > secs(304), "{shortest:?} {longest:?}");
}

// Rules B10, G4.
#[tokio::test]
async fn under_a_test_guard_the_wait_is_exact() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();
    let guard = retry_core::test::begin();
    let flaky = Flaky::new(2, Failed::SAFE.after(secs(100)));
    assert_eq!(retry(&STRATEGY, || ready(flaky.call())).run().await, Ok(3));
    assert_eq!(guard.only().delays, [secs(100); 2]);
}
