//! Wrappers of strategies forward every method, including those with a default. The first tokens that hold nothing are in `first`, the other traits
//! in `parts`.

mod first;
mod parts;

use crate::support::{ByHand, Failed, Wakes, secs};
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode};
use retry_core::classify::http::RateLimit;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::policy::Usage;
use retry_core::quota::QuotaMode;
use retry_core::strategy::{DelaySource, ForeignToken, LongPolling, Scope, StandardRetryToken, StrategyName, Weighted};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErasedStrategy, Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken,
    ScopedRetryStrategy, StandardRetryStrategy, Success, TokioTimer,
};
use retry_limits::PacedRetryStrategy;
use retry_tower::IntoHandle;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::Waker;
use std::time::Duration;

/// Calls and answers.
type Trace = Vec<String>;

/// A strategy that records its calls. Its answers differ from all defaults.
#[derive(Clone, Default)]
struct Probe {
    calls: Arc<Mutex<Trace>>,
}

/// The token of a [`Probe`], with five independent answers.
struct ProbeToken {
    attempt: u32,
}

impl RetryToken for ProbeToken {
    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn retry_count(&self) -> u32 {
        self.attempt + 30
    }

    fn delay(&self) -> Duration {
        secs(u64::from(self.attempt) + 100)
    }

    fn delay_source(&self) -> DelaySource {
        DelaySource::RetryAfter
    }

    fn waited(&self) -> Duration {
        secs(u64::from(self.attempt) + 200)
    }
}

impl Probe {
    fn called(&self, method: &str, with: impl Debug) {
        self.calls.lock().unwrap().push(format!("{method} {with:?}"));
    }
}

fn seconds(clock: &dyn Clock) -> u64 {
    clock.now().since_origin().as_secs()
}

impl RetryStrategy for Probe {
    type Token = ProbeToken;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ProbeToken, RetryError> {
        self.called("initial", seconds(clock));
        Ok(ProbeToken { attempt: 7 })
    }

    fn weigh(&self, token: &mut ProbeToken, weight: u32) {
        self.called("weigh", (token.attempt, weight));
    }

    fn used(&self, token: &mut ProbeToken, usage: Usage) {
        self.called("used", (token.attempt, usage.used()));
    }

    fn refresh_retry_token(
        &self,
        token: ProbeToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<ProbeToken, RetryError> {
        self.called("refresh", (token.attempt, failure.retry_after(), seconds(clock)));
        if failure.is_retryable() { Ok(ProbeToken { attempt: token.attempt + 2 }) } else { Err(RetryError::Disabled) }
    }

    fn record_success(&self, token: ProbeToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.called("success", (token.attempt, success, seconds(clock)));
        Err(ForeignToken)
    }

    fn record_progress(&self, token: ProbeToken, clock: &dyn Clock) -> Result<ProbeToken, RetryError> {
        self.called("progress", (token.attempt, seconds(clock)));
        Ok(ProbeToken { attempt: token.attempt + 4 })
    }

    fn ready(&self, token: &mut ProbeToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        self.called("ready", (token.attempt, seconds(clock)));
        token.attempt += 50;
        if let Some(waker) = waker {
            waker.waker().wake();
        }
        Ready::After(secs(13))
    }

    fn refused_delay(&self, token: &ProbeToken, failure: &Failure) -> Duration {
        self.called("refused_delay", (token.attempt, failure.retry_after()));
        secs(23)
    }

    fn acquire_hedge(&self, token: &ProbeToken, clock: &dyn Clock) -> Result<ProbeToken, RetryError> {
        self.called("hedge", (token.attempt, seconds(clock)));
        Ok(ProbeToken { attempt: token.attempt + 1 })
    }

    fn release(&self, token: ProbeToken) {
        self.called("release", token.attempt);
    }

    fn starts_empty(&self) -> bool {
        true
    }

    fn empty_token(&self, clock: &dyn Clock) -> Result<ProbeToken, RetryError> {
        self.called("empty", seconds(clock));
        Ok(ProbeToken { attempt: 3 })
    }

    fn record_first_success(&self, success: &Success, clock: &dyn Clock) {
        self.called("first_success", (success, seconds(clock)));
    }

    fn quota_level(&self) -> Option<u32> {
        Some(17)
    }

    fn full_quota_level(&self) -> Option<u32> {
        Some(18)
    }

    fn quota_mode(&self) -> Option<QuotaMode> {
        Some(QuotaMode::Congested)
    }

    fn waiting_operations(&self) -> Option<u32> {
        Some(21)
    }

    fn send_rate(&self) -> Option<f64> {
        Some(2.5)
    }

    fn name(&self) -> Option<StrategyName> {
        Some("probe".into())
    }

    fn max_attempts(&self) -> Option<u32> {
        Some(19)
    }
}

fn token_says(token: &impl RetryToken) -> (u32, u32, Duration, DelaySource, Duration) {
    (token.attempt(), token.retry_count(), token.delay(), token.delay_source(), token.waited())
}

/// Calls each method of a strategy and its tokens. Returns the recorded calls and the answers.
fn trace<S: RetryStrategy + ?Sized>(strategy: &S, probe: &Probe) -> Trace {
    let (clock, woken) = (ByHand::at(secs(5)), Arc::new(Wakes::default()));
    let (waker, retryable) = (Waker::from(Arc::clone(&woken)), Failure::of(&Failed::SAFE.after(secs(3))));
    let answers = {
        let initial = || strategy.acquire_initial_token(&clock).unwrap();
        let mut token = initial();
        let mut answers = vec![format!("{:?}", token_says(&token))];
        answers.push(format!("{:?}", strategy.ready(&mut token, &clock, None)));
        answers.push(format!("{:?}", token_says(&token)));
        answers.push(format!("{:?}", strategy.ready(&mut token, &clock, Some(&LazyWaker::from(&waker)))));
        answers.push(format!("{} wakes", woken.count()));
        answers.push(format!("{:?}", strategy.refused_delay(&token, &retryable)));
        let refreshed = strategy.refresh_retry_token(token, &retryable, &clock);
        answers.push(format!("{:?}", refreshed.map(|token| token_says(&token))));
        let refused = strategy.refresh_retry_token(initial(), &Failure::of(&Failed::FATAL), &clock);
        answers.push(format!("{:?}", refused.map(drop)));
        let success = Success::default().with_rate_limit(Some(RateLimit::new(9)));
        answers.push(format!("{:?}", strategy.record_success(initial(), &success, &clock)));
        let progressed = strategy.record_progress(initial(), &clock);
        answers.push(format!("{:?}", progressed.map(|token| token_says(&token))));
        let mut weighed = initial();
        strategy.weigh(&mut weighed, 70);
        strategy.used(&mut weighed, Usage::new(80));
        let hedge = strategy.acquire_hedge(&weighed, &clock);
        answers.push(format!("{:?}", hedge.map(|token| token_says(&token))));
        strategy.release(weighed);
        answers.push(format!("{:?}", strategy.quota_level()));
        answers.push(format!("{:?}", strategy.full_quota_level()));
        answers.push(format!("{:?}", strategy.quota_mode()));
        answers.push(format!("{:?}", strategy.waiting_operations()));
        answers.push(format!("{:?}", strategy.send_rate()));
        answers.push(format!("{:?}", strategy.name()));
        answers.push(format!("{:?}", strategy.max_attempts()));
        answers
    };
    let mut trace = std::mem::take(&mut *probe.calls.lock().unwrap());
    trace.extend(answers);
    trace
}

// Rule R16.
#[test]
fn a_wrapper_of_a_strategy_forwards_every_method() {
    static LAZY: LazyLock<Probe> = LazyLock::new(Probe::default);
    static SCOPES: ScopedRetryStrategy<u8, Probe> = ScopedRetryStrategy::new(Probe::default);

    let probe = Probe::default();
    let expected = trace(&probe, &probe);
    let listed = [
        "initial 5",
        "ready (7, 5)",
        "ready (57, 5)",
        "refused_delay (107, Some(3s))",
        "refresh (107, Some(3s), 5)",
        "initial 5",
        "refresh (7, None, 5)",
        "initial 5",
        "success (7, Success { rate_limit: Some(RateLimit { remaining: 9, reset: None }) }, 5)",
        "initial 5",
        "progress (7, 5)",
        "initial 5",
        "weigh (7, 70)",
        "used (7, Some(80))",
        "hedge (7, 5)",
        "release 7",
        "(7, 37, 107s, RetryAfter, 207s)",
        "After(13s)",
        "(57, 87, 157s, RetryAfter, 257s)",
        "After(13s)",
        "1 wakes",
        "23s",
        "Ok((109, 139, 209s, RetryAfter, 309s))",
        "Err(Disabled)",
        "Err(ForeignToken)",
        "Ok((11, 41, 111s, RetryAfter, 211s))",
        "Ok((8, 38, 108s, RetryAfter, 208s))",
        "Some(17)",
        "Some(18)",
        "Some(Congested)",
        "Some(21)",
        "Some(2.5)",
        "Some(\"probe\")",
        "Some(19)",
    ];
    assert_eq!(expected, listed, "the answers differ from all defaults");

    let shared = Arc::new(probe.clone());
    let erased = ErasedStrategy::new(probe.clone());
    let scope: Scope<Probe> = SCOPES.scope(&1);
    let dynamic: Box<dyn RetryStrategy<Token = ProbeToken>> = Box::new(probe.clone());
    let wrappers = [
        ("&S", trace(&&probe, &probe)),
        ("Box<S>", trace(&Box::new(probe.clone()), &probe)),
        ("dyn", trace(&*dynamic, &probe)),
        ("Box<dyn>", trace(&dynamic, &probe)),
        ("Arc<S>", trace(&shared, &probe)),
        ("Arc<dyn>", trace(&(shared as Arc<dyn RetryStrategy<Token = ProbeToken>>), &probe)),
        ("LazyLock<S>", trace(&LAZY, &LAZY)),
        ("Scope", trace(&scope, &scope)),
        ("Static<S>", trace(&IntoHandle::into_handle(&LAZY), &LAZY)),
        ("ErasedStrategy", trace(&erased, &probe)),
        ("ErasedStrategy of a pointer", trace(&ErasedStrategy::new(Arc::new(probe.clone())), &probe)),
        ("ErasedStrategy twice", trace(&ErasedStrategy::new(erased), &probe)),
        ("pointers to pointers", trace(&&Box::new(Arc::new(&probe)), &probe)),
    ];
    for (wrapper, trace) in wrappers {
        assert_eq!(trace, expected, "{wrapper}");
    }
}

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

// Rules R16, R22.
#[test]
fn a_handle_with_a_weight_forwards_every_method_and_weighs_each_operation() {
    let probe = Probe::default();
    let mut expected = Trace::new();
    for line in trace(&probe, &probe) {
        let begins = line == "initial 5";
        expected.push(line);
        if begins {
            expected.push("weigh (7, 30)".to_owned());
        } else if expected.last().is_some_and(|line| line.starts_with("hedge")) {
            expected.push("weigh (8, 30)".to_owned());
        }
    }
    assert_eq!(trace(&Weighted::new(&probe, 30), &probe), expected);
}

// Rules R16, R20.
#[test]
fn a_strategy_for_long_polls_forwards_every_method_and_asks_for_the_delay_of_each_retry() {
    let probe = Probe::default();
    let mut expected = Trace::new();
    for line in trace(&probe, &probe) {
        match line.as_str() {
            "refresh (107, Some(3s), 5)" => expected.push("refused_delay (107, Some(3s))".to_owned()),
            "refresh (7, None, 5)" => expected.push("refused_delay (7, None)".to_owned()),
            _ => {}
        }
        expected.push(line);
    }
    assert_eq!(trace(&LongPolling::over(&probe), &probe), expected);
}

/// Runs a few operations with a strategy that has the settings of [`standard`], and returns the answers.
fn life<S: RetryStrategy>(strategy: &S) -> Trace {
    let clock = ByHand::at(secs(1000));
    let initial = || strategy.acquire_initial_token(&clock).unwrap();
    let refresh =
        |token, error| strategy.refresh_retry_token(token, &Failure::of(&error), &clock).map_err(RetryError::as_str);
    let (mut trace, mut token) = (Trace::new(), initial());
    let mut note = |answer: &dyn Debug| {
        let rate = strategy.send_rate().map_or_else(String::new, |rate| format!(", rate {rate}"));
        trace.push(format!("{answer:?}, quota {:?}{rate}", strategy.quota_level()));
    };

    note(&(token_says(&token), strategy.ready(&mut token, &clock, None)));
    note(&strategy.refused_delay(&token, &Failure::of(&Failed::TIMEOUT)));
    let mut token = refresh(token, Failed::TIMEOUT).unwrap();
    note(&strategy.refused_delay(&token, &Failure::of(&Failed::SAFE.after(secs(60)))));
    note(&(token_says(&token), strategy.ready(&mut token, &clock, None)));
    let token = refresh(token, Failed::SAFE.after(secs(60))).unwrap();
    note(&token_says(&token));
    strategy.release(token);
    note(&"released");
    note(&strategy.record_success(refresh(initial(), Failed::SAFE).unwrap(), &Success::default(), &clock));
    let hedge = strategy.acquire_hedge(&initial(), &clock).unwrap();
    note(&token_says(&hedge));
    strategy.release(hedge);
    let hedge = strategy.acquire_hedge(&initial(), &clock).unwrap();
    note(&strategy.record_success(hedge, &Success::default(), &clock));
    note(&refresh(initial(), Failed { throttle: true, ..Failed::FATAL }).map(|token| token_says(&token)));
    note(&strategy.ready(&mut initial(), &clock, None));
    trace
}

fn in_adaptive_mode(standard: StandardRetryStrategy) -> ConfiguredStrategy {
    RetryConfig::new().mode(RetryMode::Adaptive).build_on(standard).unwrap()
}

fn in_paced_mode(standard: StandardRetryStrategy) -> ConfiguredStrategy {
    RetryConfig::new()
        .mode(RetryMode::Paced)
        .paced_ramp(false)
        .paced_max_throttled_time(secs(2))
        .build_on(standard)
        .unwrap()
}

// Rule R16.
#[test]
fn a_configured_strategy_forwards_to_the_strategy_of_its_mode() {
    let expected = life(&standard());
    let listed = [
        "((1, 0, 0ns, Backoff, 0ns), Now), quota Some(500)",
        "1s, quota Some(500)",
        "60s, quota Some(490)",
        "((2, 1, 1s, Backoff, 0ns), Now), quota Some(490)",
        "(3, 2, 60s, RetryAfter, 0ns), quota Some(485)",
        "\"released\", quota Some(490)",
        "Ok(()), quota Some(486)",
        "(2, 1, 0ns, Backoff, 0ns), quota Some(481)",
        "Ok(()), quota Some(482)",
        "Err(\"not_retryable\"), quota Some(482)",
        "Now, quota Some(482)",
    ];
    assert_eq!(expected, listed);
    assert_eq!(life(&RetryConfig::new().build_on(standard()).unwrap()), expected);

    // The limiter starts with the throttled response, which is the last failure above.
    let limited = life(&AdaptiveRetryStrategy::over(standard()));
    let [before @ .., throttled, last] = &*expected else { panic!("{expected:?}") };
    let after = [throttled.to_owned(), last.replace("Now", "After(100ms)")].map(|line| line + ", rate 0.5");
    assert_eq!(limited, [before, &after].concat());
    assert_eq!(life(&in_adaptive_mode(standard())), limited);
    let paced = PacedRetryStrategy::over(standard()).ramp(false).max_throttled_time(secs(2));
    let paced = life(&paced);
    assert!(paced[9].contains("rate"), "{paced:?}");
    assert_eq!(life(&in_paced_mode(standard())), paced);
}

#[test]
fn a_released_token_leaves_the_queue_through_each_wrapper() {
    fn leaves_the_queue<S: RetryStrategy>(strategy: S) -> bool {
        let clock = ByHand::at(secs(1000));
        let throttled = Failed { throttle: true, ..Failed::FATAL };
        let token = strategy.acquire_initial_token(&clock).unwrap();
        assert!(strategy.refresh_retry_token(token, &Failure::of(&throttled), &clock).is_err());
        let [mut leaving, mut next] = [(); 2].map(|()| strategy.acquire_initial_token(&clock).unwrap());
        assert_ne!(strategy.ready(&mut leaving, &clock, None), Ready::Now);
        strategy.release(leaving);
        clock.advance(secs(2));
        strategy.ready(&mut next, &clock, None) == Ready::Now
    }

    let adaptive = || AdaptiveRetryStrategy::over(standard());
    assert!(leaves_the_queue(adaptive()));
    assert!(leaves_the_queue(in_adaptive_mode(standard())));
    assert!(leaves_the_queue(ErasedStrategy::new(in_adaptive_mode(standard()))));
}

// Rule R16.
#[test]
fn tokens_pass_between_a_strategy_and_its_pointers() {
    fn second<S: RetryStrategy>(strategy: &S) -> S::Token {
        let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &TokioTimer).unwrap()
    }
    fn takes<S: RetryStrategy>(strategy: &S, token: S::Token) {
        assert_eq!(strategy.record_success(token, &Success::default(), &TokioTimer), Ok(()));
    }

    static LAZY: LazyLock<StandardRetryStrategy> = LazyLock::new(standard);
    takes(&LAZY, second(&*LAZY));
    takes(&*LAZY, second(&LAZY));

    let shared = Arc::new(standard());
    takes(&shared, second(&*shared));
    takes(&&*shared, second(&shared));
    let dynamic: Arc<dyn RetryStrategy<Token = StandardRetryToken>> = shared.clone();
    takes(&dynamic, second(&shared));
    takes(&shared, second(&&dynamic));
    assert_eq!(shared.quota().available(), 500 - 4 * 5 + 4, "four retries, and four successes that refund 1 each");
}

/// Returns the methods with `&self` in a part of a source. Each has its name, and whether it is hidden.
fn methods(text: &str, begin: &str, end: &str) -> Vec<(String, bool)> {
    let (_, text) = text.split_once(begin).unwrap();
    let (text, _) = text.split_once(end).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.trim_start_matches("///").trim_start()).collect();
    let is_hidden = |at: usize| lines[at.saturating_sub(2)..at].iter().any(|line| line.contains("#[doc(hidden)]"));
    let named = lines.iter().enumerate().filter_map(|(at, line)| {
        let (name, arguments) = line.strip_prefix("fn ")?.split_once('(')?;
        (!arguments.starts_with("&mut self")).then(|| (name.to_owned(), is_hidden(at)))
    });
    named.collect()
}

fn names(text: &str, begin: &str, end: &str) -> Trace {
    methods(text, begin, end).into_iter().map(|(name, _)| name).collect()
}

const STRATEGY: &str = include_str!("../../retry-core/src/strategy/mod.rs");
const QUOTA: &str = include_str!("../../retry-core/src/quota/mod.rs");
const LIMITER: &str = include_str!("../../retry-core/src/limit/limiter.rs");

/// The hidden methods of a decision, which only save instructions. Pointers forward them. A wrapper that decides itself must not, so they
/// are in no list: their defaults call the other methods.
fn methods_of_a_decision() -> Trace {
    names(STRATEGY, "\nmacro_rules! forward_decision {", "\n}")
}

fn methods_of_a_strategy() -> Trace {
    let decision = methods_of_a_decision();
    let declared = methods(STRATEGY, "\npub trait RetryStrategy {", "\n}");
    let is_listed = |(name, is_hidden): &(String, bool)| !(*is_hidden && decision.contains(name));
    declared.into_iter().filter(is_listed).map(|(name, _)| name).collect()
}

fn methods_of_a_quota() -> Trace {
    names(QUOTA, "\npub trait RetryQuota {", "\n}")
}

// Rule R16.
#[test]
fn the_lists_of_forwarded_methods_have_every_method() {
    let listed = |text, of| names(text, &format!("\n    {of} {{"), "\n    }\n");
    assert_eq!(listed(STRATEGY, "forward_strategy: RetryStrategy"), methods_of_a_strategy());
    assert_eq!(listed(QUOTA, "$ forward_quota: RetryQuota"), methods_of_a_quota());
    let limiter = names(LIMITER, "\npub trait SendLimiter: Debug {", "\n}");
    assert_eq!(listed(LIMITER, "$ forward_limiter: SendLimiter"), limiter);
    let pair = include_str!("../../retry-limits/src/pair.rs");
    assert_eq!(names(pair, " SendLimiter for Pair<A, B> {", "\n}"), limiter);
}

#[test]
fn the_probes_implement_and_trace_every_method() {
    let (here, parts) = (include_str!("forwarding.rs"), include_str!("forwarding/parts.rs"));
    let traces = [here, include_str!("forwarding/first.rs"), parts].concat();
    for (probe, called, text, declared) in [
        ("RetryStrategy for Probe", "strategy", here, methods_of_a_strategy()),
        ("RetryQuota for Probe", "quota", parts, methods_of_a_quota()),
    ] {
        let implemented = names(text, &format!("\nimpl {probe} {{"), "\n}");
        for method in declared {
            assert!(implemented.contains(&method), "{probe} {method}");
            assert!(traces.contains(&format!("{called}.{method}(")), "{probe} {method}");
        }
    }
}
