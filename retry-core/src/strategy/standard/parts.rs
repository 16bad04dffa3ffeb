//! Replaces the backoff and the quota of a standard strategy.

use super::StandardRetryStrategy;
use crate::backoff::{ConstantBackoff, ExponentialBackoff, LinearBackoff};
use crate::quota::{EvidenceQuota, NoQuota, TokenBucket};
use std::sync::Arc;

// A `const fn` can't move a part out of a strategy if rustc does not know that nothing of the strategy needs to be dropped. It
// knows that for the types that are listed here, and for those that are `Copy`.

/// Replaces the quota of strategies with these backoffs.
macro_rules! with_quota {
    ($($(#[$doc:meta])+ impl$(<$B:ident: Copy>)? of $backoff:ident;)+) => {$(
        impl$(<$B: Copy>)? StandardRetryStrategy<$backoff> {
            $(#[$doc])+
            pub const fn with_quota<Q>(self, quota: Q) -> StandardRetryStrategy<$backoff, Q> {
                let Self { settings, backoff, quota: _, name, switch } = self;
                StandardRetryStrategy { settings, backoff, quota, name, switch }
            }
        }
    )+};
}

with_quota! {
    /// Replaces the quota, for example with a quota that several strategies share.
    ///
    /// The [backoff](StandardRetryStrategy::with_backoff) can be replaced before or after the quota. Replace the quota first
    /// if the backoff is your own type that is not [`Copy`].
    ///
    /// ```
    /// use retry_core::{ExponentialBackoff, StandardRetryStrategy, TokenBucket};
    ///
    /// static QUOTA: TokenBucket = TokenBucket::new(500);
    /// static READS: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> =
    ///     StandardRetryStrategy::aws_2_1().max_attempts(5).with_quota(&QUOTA);
    /// static WRITES: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> =
    ///     StandardRetryStrategy::aws_2_1().with_quota(&QUOTA);
    /// ```
    impl of ExponentialBackoff;
    /// Replaces the quota, for example with a quota that several strategies share.
    impl of LinearBackoff;
    /// Replaces the quota, for example with a quota that several strategies share.
    impl of ConstantBackoff;
    /// Replaces the quota, for example with a quota that several strategies share.
    impl<B: Copy> of B;
}

/// Replaces the backoff of strategies with these quotas.
macro_rules! with_backoff {
    ($($(#[$doc:meta])+ impl$(<$($a:lifetime,)? $Q:ident: ?Sized>)? of $quota:ty as [$($fn:tt)+];)+) => {$(
        impl$(<$($a,)? $Q: ?Sized>)? StandardRetryStrategy<ExponentialBackoff, $quota> {
            $(#[$doc])+
            pub $($fn)+ with_backoff<B>(self, backoff: B) -> StandardRetryStrategy<B, $quota> {
                let Self { settings, backoff: _, quota, name, switch } = self;
                StandardRetryStrategy { settings, backoff, quota, name, switch }
            }
        }
    )+};
}

with_backoff! {
    /// Replaces the backoff.
    ///
    /// The [quota](StandardRetryStrategy::with_quota) can be replaced before or after the backoff. Replace the backoff first if
    /// the quota is your own type. If both are, use [`from_parts`](StandardRetryStrategy::from_parts).
    ///
    /// ```
    /// # use std::time::Duration;
    /// use retry_core::backoff::LinearBackoff;
    /// use retry_core::{StandardRetryStrategy, TokenBucket};
    ///
    /// static STORE: StandardRetryStrategy<LinearBackoff> = StandardRetryStrategy::new()
    ///     .max_attempts(3)
    ///     .with_backoff(LinearBackoff::new(Duration::from_secs(1), Duration::from_secs(10)));
    ///
    /// static QUOTA: TokenBucket = TokenBucket::new(500);
    /// static SHARED: StandardRetryStrategy<LinearBackoff, &TokenBucket> = StandardRetryStrategy::new()
    ///     .with_backoff(LinearBackoff::new(Duration::from_secs(1), Duration::from_secs(10)))
    ///     .with_quota(&QUOTA);
    /// ```
    impl of TokenBucket as [const fn];
    /// Replaces the backoff.
    impl of EvidenceQuota as [const fn];
    /// Replaces the backoff.
    impl of NoQuota as [const fn];
    /// Replaces the backoff.
    impl<'a, Q: ?Sized> of &'a Q as [const fn];
    /// Replaces the backoff.
    impl<Q: ?Sized> of Arc<Q> as [fn];
    /// Replaces the backoff.
    impl<Q: ?Sized> of Box<Q> as [fn];
}
