//! The limits of a call: its time, its attempts, and its end from outside.

use super::closure::{AsyncAttempts, Attempts};
use super::{Retry, TimeLimits, WithTimedOut};
use crate::operation::Stop;
use crate::support::{InvalidSetting, assert_attempts};
use crate::time::TimedOut;
use crate::time::deadline::AcceptedDeadline;
use crate::time::limit::AcceptedLimit;
use std::num::NonZeroU32;

impl<S, F, P, T, O, L: TimeLimits> Retry<S, F, P, T, O, L> {
    /// Sets the time limit of the whole call: attempts, backoff, and waits for a limiter. An async call starts with its
    /// first poll. The limit is a `Duration`, or an `Option` of one in which `None` means no limit, as is the default.
    ///
    /// The limit is hard: no wait ends after it, and an attempt that is running when the limit is over is cut. The call
    /// then ends with [`RetryError::MaxTime`](crate::RetryError::MaxTime). It returns the last outcome, which can be an
    /// `Ok`, or a [`TimedOut`] if there is none, converted to the error type by `From<TimedOut>` or by the closure of
    /// [`timed_out`](Retry::timed_out). With [`idempotent(false)`](Retry::idempotent), it also returns the `TimedOut` if an attempt
    /// was cut: the outcome before it does not say whether that attempt was carried out.
    ///
    /// An attempt that has an outcome at its last poll is not cut. An attempt that blocks its thread can't be cut. A
    /// limit of zero leaves one poll.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// #[derive(RetryInfo)]
    /// #[retry(transparent)]
    /// struct NoAnswer(TimedOut);
    ///
    /// impl From<TimedOut> for NoAnswer {
    ///     fn from(error: TimedOut) -> Self {
    ///         Self(error)
    ///     }
    /// }
    ///
    /// # async fn fetch() -> Result<(), NoAnswer> { Ok(()) }
    /// # async fn example() -> Result<(), NoAnswer> {
    /// let call = retry(&STORE, || fetch());
    /// call.max_time(Duration::from_secs(30)).attempt_timeout(Duration::from_secs(5)).run().await
    /// # }
    /// ```
    ///
    /// A limit from a configuration that may have none:
    ///
    /// ```
    /// # use std::io;
    /// # use std::time::Duration;
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// struct Config {
    ///     max_time: Option<Duration>,
    /// }
    ///
    /// # async fn fetch() -> io::Result<()> { Ok(()) }
    /// async fn get(config: &Config) -> io::Result<()> {
    ///     let call = retry(&STORE, || fetch())
    ///         .when(|error: &io::Error| error.kind() == io::ErrorKind::TimedOut);
    ///     call.max_time(config.max_time).run().await
    /// }
    /// ```
    pub fn max_time(self, time: impl AcceptedLimit) -> Retry<S, F, P, T, O, L::Limited> {
        self.within(|limits| limits.with_max_time(time.accept()))
    }

    /// Sets the deadline of the whole call: an [`Instant`](std::time::Instant) of the standard library or of tokio, or
    /// a [`Timestamp`](crate::time::Timestamp), or an `Option` of one of them in which `None` means no deadline, as is the default. A generic function passes a `T`
    /// with `T: Into<Timestamp>`.
    ///
    /// The deadline is as hard as [`max_time`](Retry::max_time). If both are set, the earlier one applies. A deadline in
    /// the past leaves one poll, which can send a request: what must not be sent too late, check before the call. The [timer](Retry::timer) must count from the origin of the library's clocks, as described at
    /// [`Clock`](crate::Clock): a clock that starts at zero never reaches an `Instant`.
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # #[derive(RetryInfo)]
    /// # #[retry(transparent)]
    /// # struct NoAnswer(TimedOut);
    /// # impl From<TimedOut> for NoAnswer { fn from(error: TimedOut) -> Self { Self(error) } }
    /// # async fn fetch(part: u32) -> Result<(), NoAnswer> { Ok(()) }
    /// use std::time::{Duration, Instant};
    ///
    /// /// Two calls that share ten seconds.
    /// # async fn both() -> Result<(), NoAnswer> {
    /// let deadline = Instant::now() + Duration::from_secs(10);
    /// retry(&STORE, || fetch(1)).deadline(deadline).run().await?;
    /// retry(&STORE, || fetch(2)).deadline(deadline).run().await
    /// # }
    /// ```
    pub fn deadline(self, deadline: impl AcceptedDeadline) -> Retry<S, F, P, T, O, L::Limited> {
        self.within(|limits| limits.with_deadline(deadline.accept()))
    }

    /// Sets the time limit of each attempt: a `Duration`, or an `Option` of one in which `None` means no limit, as is the
    /// default. With any time limit, the last outcome is kept while the call waits, so
    /// its future is `Send` only if the outcome is.
    ///
    /// The outcome of an attempt that is cut is a [`TimedOut`], which the policy classifies like any
    /// other outcome. A limit of zero allows one poll of each attempt.
    ///
    /// See [`max_time`](Retry::max_time) for an example with both limits.
    ///
    /// # The type of the call
    ///
    /// The last type parameter of the call becomes [`Limited`](super::Limited) with the first limit. Code that is generic over the limits
    /// names [`L::Limited`](TimeLimits::Limited):
    ///
    /// ```
    /// # use retry_core::{RetryInfo, TimedOut};
    /// use retry_core::retry::{AsyncAttempts, Limited, TimeLimits, Unobserved};
    /// use retry_core::time::DefaultTimer;
    /// use retry_core::{PatientRetryStrategy, Retry, StandardRetryPolicy, retry};
    /// use std::time::Duration;
    ///
    /// # #[derive(RetryInfo)]
    /// # #[retry(transparent)]
    /// # struct Failed(TimedOut);
    /// # impl From<TimedOut> for Failed { fn from(error: TimedOut) -> Self { Self(error) } }
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// /// A call with the default timer.
    /// type Call<F, L> =
    ///     Retry<&'static PatientRetryStrategy, F, StandardRetryPolicy, DefaultTimer, Unobserved, L>;
    ///
    /// fn bounded<F, L>(call: Call<F, L>) -> Call<F, L::Limited>
    /// where
    ///     F: AsyncAttempts,
    ///     L: TimeLimits,
    /// {
    ///     call.attempt_timeout(Duration::from_secs(5))
    /// }
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// let call: Call<_, Limited> = bounded(retry(&STORE, || fetch()));
    /// call.run().await
    /// # }
    /// ```
    pub fn attempt_timeout(self, time: impl AcceptedLimit) -> Retry<S, F, P, T, O, L::Limited>
    where
        F: AsyncAttempts,
    {
        self.within(|limits| limits.with_attempt_timeout(time.accept()))
    }

    /// Sets a closure that makes the error of the call where a time limit or a [`Stop`] leaves it without an outcome, for an error type
    /// without `From<TimedOut>`, such as one of another crate. It can be set before or after the limits.
    ///
    /// The outcome is an error with what the closure returns. After an [`attempt_timeout`](Retry::attempt_timeout), the policy classifies
    /// it like any other outcome. If it is [unknown](crate::RetryErrorType::Unknown) to the policy, it is classified as the
    /// [`TimedOut`] itself: as a timeout.
    ///
    /// ```
    /// # use retry_core::{ChainPolicy, PatientRetryStrategy, TimedOut, retry};
    /// # use std::fmt;
    /// # use std::time::Duration;
    /// # static API: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # /// An error of another crate.
    /// # #[derive(Debug)]
    /// # struct Status(String);
    /// # impl Status { fn deadline_exceeded(text: String) -> Self { Self(text) } }
    /// # impl fmt::Display for Status {
    /// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
    /// # }
    /// # impl std::error::Error for Status {}
    /// # async fn fetch() -> Result<(), Status> { Ok(()) }
    /// # async fn example() -> Result<(), Status> {
    /// let call = retry(&API, || fetch()).policy(ChainPolicy::new()).max_time(Duration::from_secs(30));
    /// call.timed_out(|timed_out| Status::deadline_exceeded(timed_out.to_string())).run().await
    /// # }
    /// ```
    pub fn timed_out<R, E, C>(self, timed_out: C) -> Retry<S, F, P, T, O, WithTimedOut<L, C>>
    where
        F: Attempts<Outcome = Result<R, E>>,
        C: Fn(TimedOut) -> E + Clone,
    {
        self.within(|limits| WithTimedOut::new(limits, timed_out))
    }

    /// Lets the call make any number of attempts, for a program that must not give up, such as one that waits for its database at the
    /// start.
    ///
    /// The strategy's `max_attempts` does not apply. The call ends with a success, a failure that is not worth a retry, a
    /// [`Stop`], or a time limit. All its retries are paid for by the quota. With a [`PatientRetryStrategy`](crate::PatientRetryStrategy),
    /// it waits while the quota can't pay, until the service answers again: in an outage, it makes an attempt each 30 seconds or more
    /// often. A strategy whose refused retries don't wait ends the call when the quota can't pay.
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
    /// # #[derive(Debug, RetryInfo)]
    /// # struct Failed;
    /// # async fn connect() -> Result<(), Failed> { Ok(()) }
    /// static DATABASE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// retry(&DATABASE, || connect()).unlimited_attempts().run().await
    /// # }
    /// ```
    pub fn unlimited_attempts(mut self) -> Self {
        self.function.unlimited = true;
        self.within(L::without_max_attempts)
    }

    /// Lets the call make fewer attempts than the strategy allows, the first one included: 1 means no retries. The number is a `u32`, or an
    /// `Option` of one in which `None` means the number of the strategy. The backoff and the quota are those of the strategy.
    ///
    /// The lower one of the two numbers applies, so a higher one than that of the strategy changes nothing. Each attempt counts, also one
    /// that a limiter repeats without counting it, and a [hedge](crate#features). The call ends with
    /// [`RetryError::MaxAttempts`](crate::RetryError::MaxAttempts), and pays nothing for a retry that is not made. Of this and
    /// [`unlimited_attempts`](Retry::unlimited_attempts), the last one applies.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0. For a number that is known only at run time, use [`try_max_attempts`](Retry::try_max_attempts).
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// // A user waits for this call, so it tries twice. Other calls of the store try up to ten times.
    /// retry(&STORE, || fetch()).max_attempts(2).run().await
    /// # }
    /// ```
    #[track_caller]
    pub fn max_attempts(self, attempts: impl Into<Option<u32>>) -> Retry<S, F, P, T, O, L::AtMost> {
        let attempts = attempts.into();
        assert_attempts(attempts.unwrap_or(1));
        self.at_most(attempts.and_then(NonZeroU32::new))
    }

    /// Lets the call make fewer attempts than the strategy allows, as [`max_attempts`](Retry::max_attempts) does.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    ///
    /// ```
    /// # use retry_core::{InvalidSetting, PatientRetryStrategy, retry_blocking};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # fn example(attempts: u32) -> Result<(), InvalidSetting> {
    /// let call = retry_blocking(&STORE, || std::fs::read("config")).try_max_attempts(attempts)?;
    /// # drop(call);
    /// # Ok(())
    /// # }
    /// # assert!(example(1).is_ok());
    /// assert!(example(0).is_err());
    /// ```
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn try_max_attempts(
        self,
        attempts: impl Into<Option<u32>>,
    ) -> Result<Retry<S, F, P, T, O, L::AtMost>, InvalidSetting> {
        match attempts.into() {
            Some(0) => Err(InvalidSetting::of_no_attempts()),
            attempts => Ok(self.at_most(attempts.and_then(NonZeroU32::new))),
        }
    }

    fn at_most(mut self, attempts: Option<NonZeroU32>) -> Retry<S, F, P, T, O, L::AtMost> {
        self.function.unlimited &= attempts.is_none();
        self.within(|limits| limits.with_max_attempts(attempts))
    }

    /// Sets a handle that ends the call in a shutdown; see [`Stop`].
    ///
    /// The error type must implement `From<TimedOut>`, or the call have a closure for [`timed_out`](Retry::timed_out), because the call can
    /// be stopped before its first attempt. `io::Error` and `anyhow::Error` implement it. The last outcome is kept while the call waits, so its future is `Send` only if the outcome is.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, Stop, retry_blocking};
    /// use std::io::ErrorKind;
    ///
    /// static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static STOP: Stop = Stop::new();
    ///
    /// let call = retry_blocking(&SERVER, || std::net::TcpStream::connect("127.0.0.1:80"))
    ///     .when(|error| error.kind() == ErrorKind::ConnectionRefused)
    ///     .stop(&STOP);
    /// # STOP.stop();
    /// # let stream = call.run();
    /// ```
    pub fn stop(self, stop: &Stop) -> Retry<S, F, P, T, O, L::Stoppable<'_>> {
        self.within(|limits| limits.with_stop(stop))
    }
}
