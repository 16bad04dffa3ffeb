//! Traits for the values of the options `strategy`, `timer`, `observer`, `max_time`, `max_attempts`, `name`, `stop`,
//! `stop_when` and `used`, and for certain arguments.
//!
//! With a plain bound, rustc would report a wrong type at each use of the value in the expansion. With the construction
//! of [`support::never`](crate::support::never), it reports a wrong type once.

use crate::observe::Observer;
use crate::operation::Stop;
use crate::policy::{RetryDirective, Usage};
use crate::strategy::{Operations, RetryStrategy, Share};
use crate::support::never::{Neither, Never};
use crate::time::{BlockingTimer, Timer};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::Deref;

/// Declares the trait of an option whose values implement the trait in brackets.
macro_rules! accepted {
    ($(#[$attribute:meta])* $name:ident[$bound:path]) => {
        $(#[$attribute])*
        pub trait $name<A: ?Sized> {
            /// Returns the same value.
            fn accept(&self) -> &A;

            /// Returns the same value.
            fn take(self) -> A
            where
                Self: Sized,
                A: Sized;
        }

        #[diagnostic::do_not_recommend]
        impl<T: $bound + ?Sized> $name<T> for T {
            #[inline]
            fn accept(&self) -> &T {
                self
            }

            #[inline]
            fn take(self) -> T
            where
                Self: Sized,
            {
                self
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Never + ?Sized> $name<Neither<T>> for T {
            fn accept(&self) -> &Neither<T> {
                self.never()
            }

            fn take(self) -> Neither<T>
            where
                Self: Sized,
            {
                self.never()
            }
        }
    };
}

accepted! {
    /// The value of `strategy`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a retry strategy",
        label = "this does not implement `RetryStrategy`",
        note = "name a strategy, as in `static STORE: PatientRetryStrategy = PatientRetryStrategy::new();`",
        note = "name the strategy inside its holder: `LazyLock` in place of `OnceLock`, a plain static in place of a `Mutex` or a `thread_local!`, the value in place of an `Option`, `Arc` in place of `Rc`, `SCOPES.scope(key)` in place of a `ScopedRetryStrategy`"
    )]
    AcceptedStrategy[RetryStrategy]
}

accepted! {
    /// The value of `timer`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't sleep",
        label = "this does not implement `Timer`",
        note = "enable the feature `tokio` of retry-core, or name your own timer: `timer = TIMER` in the attribute, `retry(...).timer(TIMER)` for a closure"
    )]
    AcceptedTimer[Timer]
}

accepted! {
    /// The value of `timer` beside `blocking`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't block its thread",
        label = "this does not implement `BlockingTimer`",
        note = "with `blocking`, a timer implements `fn block(&self, delay: Duration)`; without `timer`, the timer of the standard library is used"
    )]
    AcceptedBlockingTimer[BlockingTimer]
}

accepted! {
    /// The value of `observer`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not an observer",
        label = "this does not implement `Observer`",
        note = "an observer implements `fn observe(&self, event: &Event)`"
    )]
    AcceptedObserver[Observer]
}

/// The value of `max_attempts`, if it is not a literal. It is used in one place only, so it needs no second impl.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of attempts",
    label = "expected a `NonZeroU32` or an `Option<NonZeroU32>`",
    note = "write a number, as in `max_attempts = 2`, or make a constant of this type, `const ATTEMPTS: NonZeroU32 = NonZeroU32::new(2).unwrap();`",
    note = "for a number from a configuration, let its type be `NonZeroU32`, which serde refuses to read from 0; `None` means the number of the strategy"
)]
pub trait AcceptedAttempts {
    /// Returns the number; `None` means that of the strategy.
    fn accept(self) -> Option<NonZeroU32>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Option<NonZeroU32>>> AcceptedAttempts for T {
    #[inline]
    fn accept(self) -> Option<NonZeroU32> {
        self.into()
    }
}

/// The value of `name`, if it is not a literal. It is used in one place only, so it needs no second impl.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a name",
    label = "expected a `&'static str`, a `String` or a `Cow<'static, str>`",
    note = "write a text, as in `name = \"fetch\"`, or an expression that gives one, as in `name = region.name()`"
)]
pub trait AcceptedName {
    /// Returns the same name.
    fn accept(self) -> Cow<'static, str>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Cow<'static, str>>> AcceptedName for T {
    #[inline]
    fn accept(self) -> Cow<'static, str> {
        self.into()
    }
}

/// The value of `stop`: a [`Stop`], or a pointer to one. `K` is the kind of the impl, which a call infers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Stop`",
    label = "expected a `Stop`",
    note = "make it a static, `static STOP: Stop = Stop::new();`, write `stop = STOP`, and end the operations with `STOP.stop()`",
    note = "for a future, such as `token.cancelled()` or the receiver of a oneshot channel, write `stop_when = token.cancelled()`",
    note = "a flag can't end their waits: call `STOP.stop()` where it is set"
)]
pub trait AcceptedStop<K> {
    /// Returns the same handle.
    fn accept(&self) -> &Stop;
}

#[diagnostic::do_not_recommend]
impl AcceptedStop<Stop> for Stop {
    #[inline]
    fn accept(&self) -> &Stop {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: Deref<Target: AcceptedStop<K>>, K> AcceptedStop<Pointer<K>> for P {
    #[inline]
    fn accept(&self) -> &Stop {
        (**self).accept()
    }
}

/// The kind of pointers to values of the kind `K`.
#[derive(Debug)]
pub struct Pointer<K>(PhantomData<K>);

/// The value of `stop_when`: a future, or what can be awaited. `K` is the kind of the impl, which a call infers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future",
    label = "expected a future that is ready when the operation is to end",
    note = "write a future, as in `stop_when = token.cancelled()` with a `token: &CancellationToken`, or the receiver of a oneshot channel",
    note = "for a `Stop`, write `stop = STOP`"
)]
pub trait AcceptedWhen<K> {
    /// The future.
    type When;

    /// Returns the future.
    fn accept(self) -> Self::When;
}

/// The kind of what can be awaited.
#[derive(Debug)]
pub struct Awaited;

#[diagnostic::do_not_recommend]
impl<W: IntoFuture> AcceptedWhen<Awaited> for W {
    type When = W::IntoFuture;

    #[inline]
    fn accept(self) -> W::IntoFuture {
        self.into_future()
    }
}

#[diagnostic::do_not_recommend]
impl<W: Never> AcceptedWhen<Neither<W>> for W {
    type When = Neither<W>;

    fn accept(self) -> Neither<W> {
        self.never()
    }
}

/// What an attempt used, from the value of `used`. It is used in one place only, so it needs no second impl.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what an attempt used",
    label = "expected a `u32`, an `Option<u32>` or a `Usage`",
    note = "return a `u32`, an `Option<u32>` in which `None` means the weight, or a `Usage`",
    note = "convert another number, as in `u32::try_from(tokens).ok()`"
)]
pub trait AcceptedUsage {
    /// Returns the same value.
    fn accept(self) -> Usage;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Usage>> AcceptedUsage for T {
    #[inline]
    fn accept(self) -> Usage {
        self.into()
    }
}

/// A value of the closure that is a `policy`, if the macro takes it for a `bool`. It is used in one place only, so it needs no second
/// impl.
#[diagnostic::on_unimplemented(
    message = "a policy returns a `RetryDirective`, and this is a `{Self}`",
    label = "expected a `RetryDirective`",
    note = "write `RetryDirective::retry(RetryErrorType::Other)` for an outcome that is retried, and `RetryDirective::succeed()` or `RetryDirective::fail(RetryErrorType::Other)` for one that is not"
)]
pub trait AcceptedDirective {
    /// Returns the same directive.
    fn accept(self) -> RetryDirective;
}

#[diagnostic::do_not_recommend]
impl AcceptedDirective for RetryDirective {
    #[inline]
    fn accept(self) -> RetryDirective {
        self
    }
}

/// The [`Share`] trait in this construction. [`Operations`] implements it for each strategy `T` that operations can share. `S` is
/// the type of the value, by which rustc finds the value to point at.
#[diagnostic::on_unimplemented(
    message = "`{S}` is not shared by all calls",
    label = "each call would have a new, full quota",
    note = "make it a static, `static STORE: {S} = ...;`, and write `strategy = STORE`",
    note = "or pass a reference or an `Arc` of a strategy that is kept elsewhere",
    note = "a generic function that receives a reference or an `Arc` writes `where Operations: Share<S>`"
)]
pub trait AcceptedShare<S, T, A> {
    /// Returns the same strategy.
    fn take(strategy: T) -> A;

    /// Returns the same strategy.
    fn borrow(strategy: &T) -> &A;
}

#[diagnostic::do_not_recommend]
impl<S, T: RetryStrategy> AcceptedShare<S, T, T> for Operations
where
    Self: Share<T>,
{
    #[inline]
    fn take(strategy: T) -> T {
        strategy
    }

    #[inline]
    fn borrow(strategy: &T) -> &T {
        strategy
    }
}

#[diagnostic::do_not_recommend]
impl<S, T: Never> AcceptedShare<S, T, Neither<T>> for Operations {
    fn take(strategy: T) -> Neither<T> {
        strategy.never()
    }

    fn borrow(strategy: &T) -> &Neither<T> {
        strategy.never()
    }
}

/// Declares a trait of [`Operations`] for arguments that each attempt copies.
macro_rules! copied {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        pub trait $name<T, A> {
            /// Returns the same value.
            fn copy(argument: &T) -> A;
        }

        #[diagnostic::do_not_recommend]
        impl<T: Copy> $name<T, T> for Operations {
            #[inline]
            fn copy(argument: &T) -> T {
                *argument
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Never> $name<T, Neither<T>> for Operations {
            fn copy(argument: &T) -> Neither<T> {
                argument.never()
            }
        }
    };
}

copied! {
    /// Implemented for the types of arguments that a `mut` binding can be initialized with in each attempt.
    #[diagnostic::on_unimplemented(
        message = "each attempt needs a copy of this `mut` argument, and `{T}` is not `Copy`",
        label = "needed by the next attempt, too",
        note = "name the argument in `clone(...)`: `#[retryable(strategy = ..., clone(argument))]`"
    )]
    Anew
}

copied! {
    /// Implemented for the types of arguments that can be moved into the span of each attempt.
    #[diagnostic::on_unimplemented(
        message = "`#[tracing::instrument]` above `#[retryable]` moves the argument into each attempt, and `{T}` is not `Copy`",
        label = "needed by the next attempt, too",
        note = "write `#[tracing::instrument]` below `#[retryable]`, for one span around all attempts",
        note = "or name the argument in `clone(...)`: `#[retryable(strategy = ..., clone(argument))]`"
    )]
    IntoSpan
}
