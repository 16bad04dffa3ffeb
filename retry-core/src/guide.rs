//! Design decisions, and the reasons for them. This module is documentation only.
//!
//! The rules and numbers themselves are in `docs/semantics.md` in the repository.
//!
//! # One quota for all calls, in a static
//!
//! A maximum of attempts protects one call. It does not protect the server: during an outage, every call makes five
//! attempts, and the load is five times as high when the server can bear it least. So retries are paid from a quota that
//! all calls on one resource share. Successes refill it, and failures drain it. While the server is well the quota is full
//! and costs one atomic load. During an outage it is empty soon, and the load falls back to first attempts.
//!
//! A quota protects a resource only if the calls share it. That is why strategies have `const` constructors: the natural
//! place for one is a `static`. A strategy that would be made anew for each call, as in
//! `strategy = StandardRetryStrategy::new()`, has a full quota each time and protects nothing, so it does not compile (see
//! [`Share`](crate::strategy::Share)).
//!
//! # Tokens
//!
//! A strategy is shared. What belongs to one operation (how many attempts there were, what the last retry cost) travels in a
//! [token](crate::RetryToken) instead of a table in the strategy. The token is a small plain value. Each call moves it into
//! the strategy and gets the next one back, so that a refund is never made twice: using a token twice does not compile. A
//! token that comes back to another strategy is refused, because its refund belongs to another quota.
//!
//! # The library does no I/O
//!
//! A strategy is handed a clock and says how long to wait. It never sleeps. The state machine of an operation says "wait this
//! long", "make the attempt" or "return", and the code around it does the waiting. So one implementation serves async and
//! blocking functions and every runtime, and tests need no real time.
//!
//! A strategy gets the clock and not the time, so that one that needs no time reads none.
//!
//! # The operation sleeps the delay
//!
//! A token has a delay. The operation sleeps it once, and then asks [`ready`](crate::RetryStrategy::ready) whether the
//! attempt may be sent. Only limiters implement `ready`. If strategies counted down their delays themselves, each
//! strategy of a user would have to do it, and each would have to read the clock. This way a strategy needs three methods,
//! and [`delay`](crate::RetryToken::delay) means what it says.
//!
//! # Waits for a limiter
//!
//! The backoff comes first and the limiter second, directly before the attempt. The other way round, a permission
//! would grow old during the backoff and sends would bunch up.
//!
//! A limiter answers with a wait and the operation asks again afterwards. The adaptive strategy never says more than 100 ms,
//! because its rate can change at any time: an operation that kept a wait computed at an old rate would wait far too
//! long. Waiting costs nothing. If waiting operations were charged at once, the balance would fall ever lower, and those at the
//! end would starve. A limiter of your own can wake its waiting operations early through a
//! [`LazyWaker`](crate::strategy::LazyWaker).
//!
//! # Zero means zero
//!
//! A number never has a second meaning. A delay of zero is no delay, a quota of zero is an empty quota, a cost of zero is
//! free, and a limit of zero leaves one poll. "Not set" and "no limit" are `None`. A number that cannot be meant, such as 0
//! attempts, is an error: a compile error in a `static`, and a typed error at run time. There is one exception: 0 in the field
//! [`max_attempts`](crate::strategy::StandardRetrySettings::max_attempts) counts as 1, because assigning a field cannot fail.
//!
//! # Dropped operations give back what they paid
//!
//! In async code, a call can be dropped at any wait, by a timeout around it or by the other branch of a `select!`. A retry
//! is paid for before its backoff, so without care each dropped call would take its cost with it, and a service whose
//! callers are impatient would drain the quota by itself. So a guard around each wait
//! [releases](crate::RetryStrategy::release) the token. The same guard covers panics. A retry that was sent before the
//! operation was dropped has been paid for, and stays paid.
//!
//! # The caller gets its own error
//!
//! When retries end, the caller gets the last outcome as it is. There is no `RetryError<E>` around it, because the
//! signature belongs to the user: with the attribute, adding retries changes no caller. The reason why there was no further
//! attempt goes to the [observer](crate::Observer), to `tracing`, or into the [report](crate::Report) of a closure.
//!
//! # Who decides about "maybe"
//!
//! After a timeout, nobody knows whether a request was carried out. An error cannot tell, and so it says
//! [`Maybe`](crate::RetrySafety::Maybe). Whether a second execution does harm is known to the author of the operation, who
//! says `idempotent` or `idempotent = false`. If the author says nothing, a timeout and a server's fault are retried, as the
//! AWS SDKs do. A conflict is different: the server refused the request and is well, so a retry is safe and draws nothing
//! from the quota.
//!
//! # The macro writes the loop into the function
//!
//! The attribute could move the body into a closure and pass it to [`retry()`](crate::retry()). It writes a loop around the
//! body instead, because a closure that is called repeatedly cannot make a future that borrows `&mut self` or a `&mut`
//! argument. In a loop each attempt borrows them anew. `?`, `return`, `impl Trait` and borrowed return types work as they do
//! without the attribute, and the compiler's messages point at the user's code.
//!
//! For the same reason, nothing of the strategy stays borrowed while the body runs: an operation is plain data, and
//! the expression behind `strategy =` is borrowed again at each step.
//!
//! The expansion has little logic of its own. It calls functions of a hidden module, and the rules are in ordinary code,
//! which ordinary tests reach.
