//! What is the same for all requests of a layer, and what a function decides for each one.

pub(super) mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// A setting that is the same for all requests. `Same`, without a value, is a default: requests are cloned by [`Clone`], and sent as they
/// are.
#[derive(Clone, Copy, Debug)]
pub struct Same<T = ()>(pub(super) T);

/// A setting that a function decides for each request.
#[derive(Clone, Copy, Debug)]
pub struct With<F>(pub(super) F);

impl<T> sealed::Sealed for Same<T> {}
impl<F> sealed::Sealed for With<F> {}
