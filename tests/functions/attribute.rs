//! The functions that `#[retryable]` accepts. Each attempt starts from the arguments as they were passed.

mod deadline;
mod lent;
mod on_end;
mod on_retry;
mod send;
mod stream;
mod weight;

use crate::support::{Failed, Flaky, assert_send, secs};
use retry_core::{Event, Jitter, Observer, StandardRetryStrategy, TokioTimer, retryable};
use std::cell::Cell;
use std::fmt::Display;
use std::rc::Rc;

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(100_000);

type Outcome<T> = Result<T, Failed>;

// Rule M1.
#[tokio::test(start_paused = true)]
async fn mut_arguments_are_reset_for_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    async fn append(flaky: &Flaky, mut n: u32, mut seen: &[u32]) -> Outcome<u32> {
        n += 1;
        seen = &seen[1..];
        flaky.call()?;
        Ok(n * 10 + seen[0])
    }

    let flaky = Flaky::new(3, Failed::SAFE);
    assert_eq!(append(&flaky, 5, &[1, 2]).await, Ok(62));
    assert_eq!(flaky.calls(), 4);
}

// Rule M3.
#[tokio::test(start_paused = true)]
async fn owned_arguments_that_the_body_consumes_are_cloned_on_request() {
    #[retryable(strategy = STRATEGY, clone(text, mut_text))]
    async fn consume(flaky: &Flaky, text: String, mut mut_text: String) -> Outcome<usize> {
        mut_text.push('!');
        let used_up = [text, mut_text].concat();
        flaky.call()?;
        Ok(used_up.len())
    }

    let flaky = Flaky::new(2, Failed::SAFE);
    assert_eq!(consume(&flaky, "abc".to_owned(), "de".to_owned()).await, Ok(6));
    assert_eq!(flaky.calls(), 3);
}

// Rule M2.
#[tokio::test(start_paused = true)]
async fn mutable_references_are_lent_to_each_attempt() {
    fn by_value<T: Extend<u32>>(mut target: T, item: u32) {
        target.extend([item]);
    }

    struct Sink<'a>(&'a mut Vec<u32>);
    impl Extend<u32> for Sink<'_> {
        fn extend<I: IntoIterator<Item = u32>>(&mut self, items: I) {
            self.0.extend(items);
        }
    }

    #[retryable(strategy = STRATEGY)]
    async fn record(flaky: &Flaky, calls: &mut Vec<u32>, mut again: &mut u32) -> Outcome<()> {
        by_value(Sink(calls), flaky.calls());
        *again += 1;
        let mut other = 0;
        again = &mut other;
        *again += 1;
        flaky.call().map(drop)
    }

    let (mut calls, mut again) = (Vec::new(), 0);
    let flaky = Flaky::new(2, Failed::SAFE);
    record(&flaky, &mut calls, &mut again).await.unwrap();
    assert_eq!((calls, again), (vec![0, 1, 2], 3));
}

#[tokio::test(start_paused = true)]
async fn generics_lifetimes_const_generics_and_impl_trait_are_accepted() {
    #[retryable(strategy = STRATEGY)]
    async fn all<'a, T, const N: usize>(
        flaky: &Flaky,
        items: [&'a T; N],
        (left, mut right): (u32, u32),
        display: impl Display + Copy,
        Wrapper { inner, .. }: Wrapper,
        _: u8,
    ) -> Result<impl Iterator<Item = &'a T>, Failed>
    where
        T: Clone,
    {
        right += left;
        flaky.call()?;
        assert_eq!(right, 3, "{display}");
        assert!(inner);
        Ok(items.into_iter())
    }

    #[derive(Clone, Copy)]
    struct Wrapper {
        inner: bool,
        #[expect(dead_code)]
        other: bool,
    }

    let wrapper = Wrapper { inner: true, other: false };
    let flaky = Flaky::new(2, Failed::SAFE);
    let items = all(&flaky, [&1, &2], (1, 2), "sum", wrapper, 0).await.unwrap();
    assert_eq!(items.copied().collect::<Vec<i32>>(), [1, 2]);
}

// Rule M4.
#[tokio::test(start_paused = true)]
async fn question_mark_and_return_end_the_attempt_at_any_depth() {
    #[derive(Debug, PartialEq)]
    enum Any {
        Failed(Failed),
        Parse,
    }
    impl From<Failed> for Any {
        fn from(fault: Failed) -> Self {
            Self::Failed(fault)
        }
    }
    impl retry_core::ErrorInfo for Any {}
    impl retry_core::RetryInfo for Any {
        fn is_retry_safe(&self) -> retry_core::RetrySafety {
            retry_core::RetrySafety::Yes
        }
    }

    #[retryable(strategy = STRATEGY)]
    async fn deep(flaky: &Flaky, text: &str) -> Result<Box<dyn Display>, Any> {
        for _ in 0..3 {
            if flaky.calls() == 2 {
                return Ok(Box::new(text.len()));
            }
            match text.parse::<u32>() {
                Ok(_) => {
                    flaky.call()?;
                }
                Err(_) => return Err(Any::Parse),
            }
        }
        Ok(Box::new(0))
    }

    let flaky = Flaky::new(2, Failed::SAFE);
    assert_eq!(deep(&flaky, "123").await.unwrap().to_string(), "3");
    assert_eq!(deep(&Flaky::new(0, Failed::SAFE), "x").await.map(drop), Err(Any::Parse));
}

// Rule M5.
#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_send_leaves_the_future_send() {
    #[derive(Debug)]
    struct Local(#[expect(dead_code)] Rc<u32>);
    impl retry_core::ErrorInfo for Local {}
    impl retry_core::RetryInfo for Local {
        fn is_retry_safe(&self) -> retry_core::RetrySafety {
            retry_core::RetrySafety::Yes
        }
    }

    static JITTERY: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));

    #[retryable(strategy = JITTERY)]
    async fn local(counter: &Flaky) -> Result<u32, Local> {
        counter.call().map_err(|_| Local(Rc::new(1)))
    }

    assert_eq!(assert_send(local(&Flaky::new(1, Failed::SAFE))).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_observer_and_a_timer_leave_the_future_send() {
    #[retryable(strategy = STRATEGY, observer = SILENT, timer = TIMER)]
    async fn of_statics(counter: &Flaky) -> Outcome<u32> {
        counter.call()
    }
    #[retryable(strategy = STRATEGY, observer = Silent, timer = timer, max_time = "9s", attempt_timeout = "1s")]
    async fn of_values(counter: &Flaky, timer: TokioTimer) -> Outcome<u32> {
        counter.call()
    }

    static SILENT: Silent = Silent;
    static TIMER: TokioTimer = TokioTimer;

    struct Silent;
    impl Observer for Silent {
        fn observe(&self, _: &Event) {}
    }

    assert_eq!(assert_send(of_statics(&Flaky::new(1, Failed::SAFE))).await, Ok(2));
    assert_eq!(assert_send(of_values(&Flaky::new(1, Failed::SAFE), TokioTimer)).await, Ok(2));
}

// Rule P2.
#[tokio::test(start_paused = true)]
async fn idempotence_decides_whether_an_uncertain_failure_is_retried() {
    #[retryable(strategy = STRATEGY, idempotent)]
    async fn yes(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY, idempotent = false)]
    async fn no(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY)]
    async fn unsaid(flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    use retry_core::{ErrorFault, RetrySafety};
    let maybe = Failed { safety: RetrySafety::Maybe, ..Failed::SAFE };
    let server = Failed { fault: ErrorFault::Server, ..maybe };
    for (error, expected) in [(maybe, [2, 1, 1]), (server, [2, 1, 2]), (Failed::TIMEOUT, [2, 1, 2])] {
        let flaky = [(); 3].map(|()| Flaky::new(1, error));
        let _ = yes(&flaky[0]).await;
        let _ = no(&flaky[1]).await;
        let _ = unsaid(&flaky[2]).await;
        assert_eq!(flaky.map(|flaky| flaky.calls()), expected, "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_function_may_be_written_by_macro_rules() {
    macro_rules! function {
        ($name:ident, $strategy:expr, $ty:ty, $pat:pat, $sum:expr) => {
            #[retryable(strategy = $strategy)]
            async fn $name(flaky: &Flaky, log: $ty, $pat: (u32, u32)) -> Outcome<u32> {
                log.push($sum);
                flaky.call()
            }
        };
    }

    function!(in_pattern, STRATEGY, &mut Vec<u32>, (a, b), a + b);
    let mut log = Vec::new();
    assert_eq!(in_pattern(&Flaky::new(1, Failed::SAFE), &mut log, (1, 2)).await, Ok(2));
    assert_eq!(log, [3, 3]);
}

#[tokio::test(start_paused = true)]
async fn arguments_may_be_conditionally_compiled() {
    #[retryable(strategy = STRATEGY, clone(text))]
    async fn conditional(
        flaky: &Flaky,
        #[cfg(test)] mut n: u32,
        #[cfg(not(test))] mut n: String,
        #[cfg(not(test))] text: u8,
    ) -> Outcome<u32> {
        n += 1;
        flaky.call()?;
        Ok(n)
    }

    assert_eq!(conditional(&Flaky::new(2, Failed::SAFE), 1).await, Ok(2));
}

// Rule M1.
#[tokio::test(start_paused = true)]
async fn nested_mut_and_ref_patterns_are_reset_for_each_attempt() {
    #[retryable(strategy = STRATEGY)]
    #[expect(clippy::toplevel_ref_arg, reason = "such arguments are accepted, too")]
    async fn nested(
        flaky: &Flaky,
        (mut a, ref b): (u32, u32),
        ref mut c: u32,
        mut all @ [_, mut d]: [u32; 2],
    ) -> Outcome<u32> {
        a += b;
        *c += 1;
        d += 1;
        all[0] += 1;
        flaky.call()?;
        Ok(a * 1000 + *c * 100 + d * 10 + all[0])
    }

    assert_eq!(nested(&Flaky::new(2, Failed::SAFE), (1, 2), 0, [1, 4]).await, Ok(3352));
}

// Rule M1.
#[tokio::test(start_paused = true)]
async fn owned_names_in_each_kind_of_pattern_are_lent_to_each_attempt() {
    struct Point {
        x: Cell<u32>,
        y: Cell<u32>,
    }
    struct Wrapped(Cell<u32>);
    type Number = Cell<u32>;

    #[retryable(strategy = STRATEGY)]
    #[expect(unused_parens, reason = "such arguments are accepted, too")]
    async fn sum(
        flaky: &Flaky,
        Point { x, y: ordinate }: Point,
        Wrapped(wrapped): Wrapped,
        [first, .., last]: [Number; 3],
        (flat, (nested, ..), [inner]): (Number, (Number, u8), [Number; 1]),
        (parenthesized): Number,
    ) -> Outcome<u32> {
        let all = [&x, &ordinate, &wrapped, &first, &last, &flat, &nested, &inner, &parenthesized];
        for number in all {
            number.set(number.get() + 1);
        }
        flaky.call()?;
        Ok(all.iter().map(|number| number.get()).sum())
    }

    let n = || Cell::new(10);
    let flaky = Flaky::new(2, Failed::SAFE);
    let future = sum(&flaky, Point { x: n(), y: n() }, Wrapped(n()), [n(), n(), n()], (n(), (n(), 0), [n()]), n());
    // A future that shared a `Cell` between attempts would not be `Send`.
    assert_eq!(assert_send(future).await, Ok(9 * 13));
}

// Rule M1.
#[tokio::test(start_paused = true)]
async fn a_name_in_another_kind_of_pattern_keeps_its_mut_and_no_other_gets_one() {
    // The second one is not changed, so `mut` would cause a warning.
    #[deny(unused_mut)]
    #[expect(clippy::let_and_return, reason = "`async_trait` moves arguments like this")]
    #[retryable(strategy = STRATEGY, on_retry = |_, _| number += 1)]
    fn moved(flaky: &Flaky, number: u32) -> impl Future<Output = Outcome<u32>> {
        async move {
            let mut number: u32 = {
                let number = number;
                number
            };
            flaky.call()?;
            number += 1;
            Ok(number)
        }
    }

    assert_eq!(moved(&Flaky::new(2, Failed::SAFE), 1).await, Ok(4));
}

// Rule M1.
#[tokio::test(start_paused = true)]
async fn types_without_a_name_may_be_in_each_part_of_the_outcome() {
    trait Generic {
        type Of<T>
        where
            Self: Sized;
    }

    impl Generic for u8 {
        type Of<T> = T;
    }

    // rustc says of this type that its bound has no effect.
    #[allow(unused_associated_type_bounds)]
    #[retryable(strategy = STRATEGY)]
    async fn generic() -> Outcome<Box<dyn Generic<Of<impl Sized + use<>> = u8>>> {
        Ok(Box::new(1_u8) as Box<dyn Generic<Of<u8> = u8>>)
    }

    #[retryable(strategy = STRATEGY)]
    async fn all<'a>(
        flaky: &Flaky,
        text: &'a str,
    ) -> Outcome<(
        (Vec<impl Display + use<>>, [impl Display + use<>; 1]),
        &'a [impl Display + use<>],
        Box<dyn Iterator<Item = impl Display + use<>> + Send>,
        &'a (impl Display + use<'a> + ?Sized),
    )> {
        flaky.call()?;
        let doubled = [1, 2].into_iter().map(|n| n * 2);
        Ok(((doubled.clone().collect(), [3]), text.as_bytes(), Box::new(doubled), text))
    }

    generic().await.unwrap();
    let ((vec, [array]), bytes, iterator, single) = all(&Flaky::new(1, Failed::SAFE), "a").await.unwrap();
    let shown: Vec<String> = vec.iter().map(ToString::to_string).chain(iterator.map(|n| n.to_string())).collect();
    assert_eq!(
        (shown.join(" "), array.to_string(), bytes[0].to_string(), single.to_string()),
        ("2 4 2 4".to_owned(), "3".to_owned(), "97".to_owned(), "a".to_owned())
    );
}

// Rule M10.
#[tokio::test(start_paused = true)]
async fn the_attribute_works_under_another_name() {
    use retry_core as renamed;

    #[renamed::retryable(strategy = "standard", crate = renamed)]
    async fn call() -> Outcome<u32> {
        Ok(1)
    }

    assert_eq!(call().await, Ok(1));
}

// Rule M10.
#[tokio::test(start_paused = true)]
async fn names_of_the_expansion_do_not_clash_with_names_of_the_user() {
    #[retryable(strategy = STRATEGY)]
    async fn names(__operation: &Flaky, __wait: u32, __outcome: u32, __sleep: u32) -> Outcome<u32> {
        let _ = __operation.call()?;
        Ok(__wait + __outcome + __sleep)
    }

    assert_eq!(names(&Flaky::new(1, Failed::SAFE), 1, 2, 3).await, Ok(6));
}

#[tokio::test(start_paused = true)]
async fn attributes_and_documentation_are_kept() {
    /// Documented.
    #[retryable(strategy = STRATEGY)]
    #[must_use = "it is"]
    #[allow(clippy::unused_async)]
    #[allow(clippy::mixed_attributes_style, reason = "both kinds must be kept")]
    async fn documented() -> Outcome<u32> {
        #![allow(unused_variables)]
        let unused = 1;
        Ok(1)
    }

    let started = tokio::time::Instant::now();
    assert_eq!(documented().await, Ok(1));
    assert!(started.elapsed() < secs(1));
}
