//! Impls that never apply, for the sake of what rustc reports.
//!
//! With a bound `T: Timer`, rustc reports a wrong `T` wherever the value is used. A trait `Accepted<A>` with an impl of
//! `Accepted<T>` for each `T: Timer` chooses the type `A` that is handed on. If there is a second impl, of
//! `Accepted<Neither<T>>` for each `T: Never`, rustc finds none of the two for a wrong type and reports the trait itself, in the
//! words of its `on_unimplemented`. `A` stays unknown, and what follows from an unknown type is not reported.

use std::marker::PhantomData;

/// A trait without implementations.
pub trait Never {
    /// Never returns.
    fn never(&self) -> !;
}

/// The value type of the impls that never apply.
#[derive(Debug)]
pub struct Neither<T: ?Sized>(PhantomData<T>);
