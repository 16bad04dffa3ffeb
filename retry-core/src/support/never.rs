//! Impls that never apply. They make rustc report a wrong type once instead of several times.
//!
//! With a bound such as `T: Timer`, rustc reports a wrong `T` at each use of the value. The alternative is a trait
//! `Accepted<A>` with two impls:
//!
//! - `Accepted<T>` for each `T: Timer`. It determines the type `A` of the value that is passed on.
//! - `Accepted<Neither<T>>` for each `T: Never`, which never applies.
//!
//! With a single impl, rustc would use it to determine `A`, and would report each later use as well. With two impls,
//! rustc finds none that applies to a wrong type, and reports the trait itself with its `on_unimplemented` message. `A`
//! stays unknown, and rustc does not report errors that follow from an unknown type.

use std::marker::PhantomData;

/// A trait without implementations.
pub trait Never {
    /// Diverges. It is never called, because the trait has no implementations.
    fn never(&self) -> !;
}

/// The value type of the impls that never apply.
#[derive(Debug)]
pub struct Neither<T: ?Sized>(PhantomData<T>);
