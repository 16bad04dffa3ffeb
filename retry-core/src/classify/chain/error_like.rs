//! The types that can be the start of a chain.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ops::DerefMut;

/// An error, or an owner of one.
///
/// | type | examples |
/// |---|---|
/// | any [`Error`] that is `'static` | `std::io::Error`, `Arc<dyn Error + Send + Sync>` |
/// | `dyn Error`, with or without `Send` and `Sync` | the referent of a `&(dyn Error + 'static)` |
/// | an owner that is not an `Error` itself and dereferences to `dyn Error` through [`DerefMut`] | `Box<dyn Error>`, `anyhow::Error`, `eyre::Report` |
///
/// For any other pointer, such as an `Rc<dyn Error>`, pass a reference to its target: `chain::known(&*error)`.
///
/// `K` distinguishes these kinds of types: [`Concrete`], [`Dyn`] and [`Owner`]. A call infers it.
/// This trait is sealed.
///
/// ```
/// use retry_core::classify::chain::{self, ErrorLike};
///
/// /// Takes any error, and any owner of one.
/// fn is_timeout<K>(error: &impl ErrorLike<K>) -> bool {
///     chain::known(error).is_some_and(|known| known.is_timeout())
/// }
///
/// let timed_out = std::io::Error::from(std::io::ErrorKind::TimedOut);
/// assert!(is_timeout(&timed_out));
/// assert!(is_timeout(&anyhow::Error::from(timed_out)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an error nor an owner of one",
    label = "expected an `Error`, or an owner such as `Box<dyn Error>`",
    note = "to classify the error behind another pointer, pass a reference to the error: `chain::known(&**pointer)`",
    note = "only errors that are `'static` can be classified"
)]
pub trait ErrorLike<K>: sealed::Sealed<K> {
    /// Returns the first link of the chain.
    #[doc(hidden)]
    fn as_link(&self) -> &(dyn Error + 'static);
}

impl<E: IsError> ErrorLike<Concrete> for E {
    fn as_link(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl<P: OwnsError> ErrorLike<Owner> for P {
    fn as_link(&self) -> &(dyn Error + 'static) {
        self.owned()
    }
}

/// The bound of the kind [`Concrete`]. The trait exists for its message, which comes if this kind was named.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not of the kind `Concrete`, because it does not implement `Error`",
    label = "this is for types that implement `Error`",
    note = "for an owner of any error, such as `anyhow::Error` or `Box<dyn Error>`, write the type `ChainPolicy` or `ChainPolicy<chain::Owner>`"
)]
pub trait IsError: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> IsError for E {}

/// The bound of the kind [`Owner`]. The trait exists for its message, which comes if this kind was named.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not of the kind `Owner`, because it does not own an error of any type",
    label = "this is for owners such as `anyhow::Error` and `Box<dyn Error>`",
    note = "for a type that implements `Error`, write the type `ChainPolicy<chain::Concrete>`",
    note = "or write `ChainPolicy::new()` in the call, where the kind is inferred"
)]
pub trait OwnsError {
    /// Returns the error.
    fn owned(&self) -> &(dyn Error + 'static);
}

/// The bound is `DerefMut` instead of `Deref` because `Arc<dyn Error>` and references are errors themselves: with
/// `Deref` they would match two kinds.
#[diagnostic::do_not_recommend]
impl<P: DerefMut<Target: ErrorLike<Dyn>>> OwnsError for P {
    fn owned(&self) -> &(dyn Error + 'static) {
        (**self).as_link()
    }
}

/// With a second impl, which never applies, rustc names this trait in place of `DerefMut`.
#[diagnostic::do_not_recommend]
impl<P> OwnsError for P
where
    PhantomData<P>: sealed::Never,
{
    fn owned(&self) -> &(dyn Error + 'static) {
        &fmt::Error
    }
}

macro_rules! dyn_errors {
    ($($error:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl ErrorLike<Dyn> for $error {
            fn as_link(&self) -> &(dyn Error + 'static) {
                self
            }
        }

        impl sealed::Sealed<Dyn> for $error {}
    )+};
}

dyn_errors!(dyn Error, dyn Error + Send, dyn Error + Sync, dyn Error + Send + Sync);

/// The kind of [`ErrorLike`] types that are errors themselves, such as [`std::io::Error`].
#[derive(Debug)]
pub enum Concrete {}

/// The kind of [`ErrorLike`] types that own an error of any type, such as `Box<dyn Error>` and `anyhow::Error`.
#[derive(Debug)]
pub enum Owner {}

/// The kind of [`ErrorLike`] types that are trait objects, such as `dyn Error + Send`.
#[derive(Debug)]
pub enum Dyn {}

mod sealed {
    use super::{Concrete, Error, Owner, OwnsError};

    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed<K> {}

    impl<E: Error + 'static> Sealed<Concrete> for E {}
    impl<P: OwnsError> Sealed<Owner> for P {}

    /// A trait without implementations.
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Never {}
}
