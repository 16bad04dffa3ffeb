//! Design decisions, and the reasons for them. This module is documentation only.
//!
//! The exact rules and numbers are in `docs/semantics.md` in the repository.
//!
//! # One quota for all calls, in a static
//!
//! A maximum number of attempts limits a single call. It does not protect the server: during an outage, every call
//! makes five attempts, and the load is five times as high at the worst moment. So retries are paid from a quota that
//! all calls to one resource share. Successes refill it, and retries drain it. While the server is healthy, the quota
//! is full and costs one atomic load. During an outage the quota is soon empty, and the load falls back to first
//! attempts.
//!
//! A quota protects a resource only if all calls share it. So strategies have `const` constructors, and the natural
//! place for a strategy is a `static`. If each call created its own strategy, as in `strategy =
//! StandardRetryStrategy::new()`, its quota would be full each time and protect nothing. So this does not compile (see
//! [`Share`](crate::strategy::Share)).
//!
//! # A quota that needs no number
//!
//! How large should a quota be? A fixed size of 100 retries is right for one process with a few hundred requests per
//! second. With 1,000 processes it is 1,000 times as large, and a server that stalled stays down. With one process,
//! independent failures of 30 % empty it, although retries would help. So [`EvidenceQuota`](crate::quota::EvidenceQuota)
//! takes its size from its own traffic: the number of attempts in 1 5/8 seconds. These sizes add up to the size of one
//! quota, whatever the number of processes. And it asks whether retries help: one that succeeds gives back two. So retries
//! pay for themselves while more than half of all attempts succeed, and end by themselves on a server that sheds load,
//! where each retry displaces another request. A timeout is the one failure that shows congestion, so the rule for its
//! retry is stricter.
//!
//! # Operations wait for the service
//!
//! A quota keeps the service up, and by itself it lets operations down: in an outage of three seconds, those that it can't pay
//! for would fail, although their callers have time. So with a [`PatientRetryStrategy`](crate::PatientRetryStrategy), they wait
//! in line. What is sent is bounded by evidence, and not by time: half a retry for each fast answer, and one at a time where
//! nothing else is sent. Retries are background traffic, which uses what the foreground leaves, as in RFC 6817 (LEDBAT).
//! gRPC calls the caller's side of it "wait for ready".
//!
//! An answer is fast in comparison with the timeout of an attempt. A server with a full queue answers, too, but slowly, and its
//! answers are not evidence that it has room for more.
//!
//! # Tokens
//!
//! Operations share a strategy. The state of a single operation, such as its number of attempts and the cost of its
//! last retry, is in a [token](crate::RetryToken) and not in a table in the strategy. A token is a small plain value.
//! Each method of a strategy that ends an attempt takes the token by value, so using it twice does not compile, and no
//! refund is made twice. A strategy rejects the token of another strategy, because its refund belongs to another quota.
//!
//! # The library does no I/O
//!
//! A strategy gets a clock, and returns how long to wait. It never sleeps. The next step of an operation is to wait, to
//! make an attempt or to return, and the code around the operation carries it out. So one implementation serves async
//! functions, blocking functions and every runtime, and tests need no real time.
//!
//! A strategy gets the clock instead of the current time, so a strategy that doesn't need the time never reads the
//! clock.
//!
//! # The operation sleeps the delay
//!
//! A token has a [delay](crate::RetryToken::delay). The operation sleeps for it once, and then calls
//! [`ready`](crate::RetryStrategy::ready) to find out whether the attempt may be sent. Only limiters and the patient strategy
//! implement `ready`.
//! If strategies counted down their delays themselves, each strategy of a user would have to do the same and read the
//! clock. With this design, a strategy needs only three methods.
//!
//! # Waits for a limiter
//!
//! The backoff comes first. The limiter comes second, directly before the attempt. In the opposite order, permissions
//! would be granted long before their attempts, and sends would bunch up after the backoffs.
//!
//! A limiter answers with a wait, and the operation asks again after it. The adaptive strategy never answers with more
//! than 100 ms, because its rate can change at any time, and a wait that was computed at an old rate could be far too
//! long. Waiting is free: an operation is charged when it gets its permission. If operations were charged when they
//! start to wait, the balance would fall further and further, and the operations at the end of the queue would starve.
//! Your own limiter can wake its waiting operations early through a [`LazyWaker`](crate::limit::LazyWaker).
//!
//! # Zero means zero
//!
//! No number has a special meaning. A delay of zero is no delay, a quota of zero is an empty quota, a cost of zero is
//! free, and a time limit of zero leaves one poll. "Not set" and "no limit" are `None`. A number that makes no sense,
//! such as 0 attempts, is an error: a compile error in a `static`, and a typed error at run time. There is one
//! exception: 0 in the field [`max_attempts`](crate::strategy::StandardRetrySettings::max_attempts) is treated as 1,
//! because assigning a field can't fail.
//!
//! # Refunds for dropped operations
//!
//! In async code, a call can be dropped during any wait, for example by a timeout around it or by another branch of a
//! `select!`. A retry is paid for before its backoff. Without a refund, each call that is dropped during a backoff
//! would reduce the quota, and callers with short timeouts would drain it. So a guard around each wait
//! [releases](crate::RetryStrategy::release) the token, and the strategy gives the cost back. The same guard handles
//! panics. A retry that was already sent is not refunded.
//!
//! # The caller gets its own error
//!
//! When an operation ends, the caller gets the last outcome unchanged. It is not wrapped in a `RetryError<E>`, because
//! the attribute must not change the signature of the function: adding retries changes no caller. The reason why there
//! was no further attempt is in the events for the [observer](crate::Observer) and for `tracing`, and in the
//! [report](crate::Report) of a closure call.
//!
//! If callers of a function with the attribute need the report, the function has the option `on_end = |report| ..`. The
//! closure has access to the arguments, so it can store the answer in one of them, such as `ended: &mut
//! Option<RetryError>`. Nothing changes for other functions and their callers. The alternatives were: a return type of
//! `Report<Result<..>>`, but then the body returns another type than the signature says; a variable of a given name, but
//! the body that could read it has ended by then; and an observer, but it is shared by calls that run at the same time and
//! does not get the outcome.
//!
//! # Errors with an unknown effect
//!
//! After a timeout, the client does not know whether the server carried out the request. The error alone can't answer
//! that, so its class is [`RetrySafety::Maybe`](crate::RetrySafety::Maybe). Only the author of the operation knows
//! whether a second execution does harm, and can write `idempotent` or `idempotent = false`. Without either, timeouts
//! and faults of the server are retried, as in the AWS SDKs. A conflict is different: the server rejected the request
//! and is healthy, so a retry is safe and costs nothing.
//!
//! # Retries inside your own library
//!
//! A library that calls a service can retry inside, and let its users choose how. `examples/library` in the repository does so
//! without macros and without an async runtime.
//!
//! - *Default*: one strategy for each client, in a field, so that all its requests share a quota. Take another one by value with
//!   a parameter `S: RetryStrategy`. A reference, an `Arc`, an [`ErasedStrategy`](crate::ErasedStrategy) and a strategy of the
//!   user's own all fit. The bound `Operations: Share<S>` is only necessary if you pass the strategy itself, and not a reference
//!   to your field, to [`retry()`](crate::retry()).
//! - *`Send`*: if the type of the strategy is a parameter, the future of a call is known to be `Send` only with a time limit or a
//!   [`stop`](crate::Retry::stop), which make it keep its last outcome whatever the strategy is.
//! - *Timer*: a parameter `T: Timer`. Without the feature `tokio` of this library, yours compiles for every runtime.
//! - *Observer*: an `Option<Arc<dyn Observer + Send + Sync>>` is an observer, so it can be left out.
//! - *No retries*: offer a constructor that sets `max_attempts(1)`. Users can also write
//!   [`without_retries(client.get(..))`](crate::without_retries()), which needs nothing from you.
//! - *Errors*: implement [`RetryInfo`](trait@crate::RetryInfo) for your error, so that callers who retry themselves need to say
//!   nothing about it, and mark requests as idempotent or not yourself. Your users can't know.
//! - *Versions*: the traits [`RetryStrategy`](crate::RetryStrategy), [`RetryToken`](crate::RetryToken),
//!   [`Timer`](crate::Timer), [`Observer`](crate::Observer) and `RetryInfo` and the strategies may stand in your interface. They
//!   gain methods only with defaults, and enums that can grow are `#[non_exhaustive]`. Before version 1.0, a new minor version
//!   of this library is a breaking one, and then yours must be, too. If that is too often, wrap what your users choose in a type
//!   of your own. The builders, such as `Retry`, are for function bodies: their type parameters may change.
//!
//! # The macro writes the loop into the function
//!
//! The attribute could move the body into a closure and pass it to [`retry()`](crate::retry()). It writes a loop around
//! the body instead, because a closure that is called repeatedly can't return a future that borrows `&mut self` or a
//! `&mut` argument. In a loop, each attempt borrows them again. `?`, `return`, `impl Trait` and borrowed return types
//! work as they do without the attribute, and the compiler's messages point at the user's code.
//!
//! For the same reason, no part of the strategy stays borrowed while the body runs. An operation is plain data, and the
//! expression after `strategy =` is borrowed again at each step.
//!
//! The expansion contains little logic. It calls functions of a hidden module, so the rules are in ordinary code that
//! ordinary tests can reach.
//!
//! Over the public interface, the loop is this:
//!
//! ```
//! use retry_core::{
//!     Failure, RetryInfo, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokioTimer,
//! };
//!
//! #[derive(RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! async fn body(key: &str) -> Result<String, SlowDown> {
//!     Ok(key.to_owned())
//! }
//!
//! async fn get(key: &str) -> Result<String, SlowDown> {
//!     let clock = &TokioTimer;
//!     let Ok(mut token) = STORE.acquire_initial_token(clock) else { return body(key).await };
//!     loop {
//!         tokio::time::sleep(token.delay()).await;
//!         while let Some(wait) = STORE.ready(&mut token, clock, None).wait() {
//!             tokio::time::sleep(wait).await; // only a limiter waits here
//!         }
//!         match body(key).await {
//!             Ok(value) => {
//!                 let _ = STORE.record_success(token, &Success::default(), clock);
//!                 return Ok(value);
//!             }
//!             Err(error) => match STORE.refresh_retry_token(token, &Failure::of(&error), clock) {
//!                 Ok(next) => token = next,
//!                 Err(_why) => return Err(error),
//!             },
//!         }
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() {
//!     assert!(get("key").await.is_ok());
//! }
//! ```
//!
//! The attribute also gives back what was paid for a retry if the future is dropped before that retry was sent.
