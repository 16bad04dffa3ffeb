//! The policy for errors of any type, which are classified by their chain of sources.

use super::{NoAnswer, RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy, Unanswered, by_parts};
use crate::classify::Classification;
use crate::classify::chain::{self, ErrorLike, Owner};
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

type Link = fn(&(dyn Error + 'static)) -> Option<Classification>;

/// The maximum number of functions that [`ChainPolicy::also`] can add.
const MAX_ADDED: usize = 8;

/// The policy for results whose error can be of any type: `anyhow::Error`, `eyre::Report`, `Box<dyn Error>`, or the error
/// of a client library.
///
/// The first known link of the error's [chain](chain#links) decides, as with [`chain::known`]. `Ok` is a success.
/// [`also`](ChainPolicy::also) adds more known links. What [`RetrySafety::Maybe`](crate::RetrySafety::Maybe) means
/// depends on [`idempotent`](ChainPolicy::idempotent). The crate `retry-clients` has a policy of this type for each client
/// that it knows.
///
/// An error without a known link is final, and has the class [`RetryErrorType::Unknown`]. The first one of each function
/// causes a [warning](crate::EventKind::UnknownError) with its text. To classify it, add a function with
/// [`also`](ChainPolicy::also), or say by [`otherwise`](ChainPolicy::otherwise) what all such errors mean.
///
/// # Errors that a chain does not show
///
/// Two common kinds of errors hide what they contain, and need one line each:
///
/// | error | why it is hidden | line |
/// |---|---|---|
/// | a variant with `#[error(transparent)]` of the crate `thiserror` | its `source` is that of the error inside, which is skipped | `.also(\|link\| match link.downcast_ref()? { StoreError::Client(inner) => client(inner), _ => None })` |
/// | a typed context of `anyhow` or `eyre`, as in `.context(StoreError::SlowDown)` | only the owner's `downcast_ref` finds it | [`.whole_first(..)`](ChainPolicy::whole_first) |
///
/// An enum that derives [`RetryInfo`](macro@crate::RetryInfo) with `#[retry(transparent)]` or `#[retry(with = client)]` on
/// that variant, and is added by `.also(chain::typed::<StoreError>)`, needs no other line.
///
/// ```
/// use retry_core::classify::chain;
/// use retry_core::{ChainPolicy, PatientRetryStrategy, RetryInfo, retryable};
/// use std::error::Error;
/// # use std::fmt;
///
/// #[derive(Debug, RetryInfo)]
/// #[retry(throttling)]
/// struct Busy;
/// # impl fmt::Display for Busy {
/// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("busy") }
/// # }
/// # impl Error for Busy {}
///
/// static JOBS: PatientRetryStrategy = PatientRetryStrategy::new();
/// const READS: ChainPolicy = ChainPolicy::new().also(chain::typed::<Busy>).idempotent(true);
///
/// #[retryable(strategy = JOBS, policy = READS, attempt_timeout = "5s")]
/// async fn read() -> Result<String, Box<dyn Error + Send + Sync>> {
///     // One attempt. `Busy`, I/O errors and timeouts are known, however deep in the chain.
/// #   Ok(String::new())
/// }
/// ```
///
/// `K` is the kind of the error type. In an expression it is inferred. A `const` or a `static` names it: `ChainPolicy`
/// for owners of any error, such as `anyhow::Error`, and `ChainPolicy<chain::Concrete>` for types that implement
/// [`Error`].
pub struct ChainPolicy<K = Owner> {
    added: [Option<Link>; MAX_ADDED],
    otherwise: Option<Classification>,
    standard: StandardRetryPolicy,
    kind: PhantomData<fn() -> K>,
}

impl<K> ChainPolicy<K> {
    /// Creates a policy that knows the links in the table of [`chain`], for an operation that may or may not be
    /// idempotent.
    pub const fn new() -> Self {
        Self { added: [None; MAX_ADDED], otherwise: None, standard: StandardRetryPolicy::new(), kind: PhantomData }
    }

    /// Adds a function that classifies more kinds of links. It gets one link, not the chain, and returns `None` for a
    /// link that it does not know.
    ///
    /// For each link, the added functions are asked first, in the order in which they were added, and then the table of
    /// [`chain`]. [`chain::typed`] makes such a function for your own error type.
    ///
    /// # Panics
    ///
    /// Panics if a ninth function is added; in a `const` or a `static` this is a compile error. One function can ask
    /// several others: `|link| first(link).or_else(|| second(link))`.
    #[must_use]
    pub const fn also(mut self, link: fn(&(dyn Error + 'static)) -> Option<Classification>) -> Self {
        let mut free = 0;
        while free < MAX_ADDED && self.added[free].is_some() {
            free += 1;
        }
        assert!(free < MAX_ADDED, "a ChainPolicy takes at most 8 functions: write one that asks the others");
        self.added[free] = Some(link);
        self
    }

    /// Sets what an error without a known link means. Then it is not unknown, and causes no warning.
    ///
    /// ```
    /// use retry_core::classify::Classification;
    /// use retry_core::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy, RetrySafety};
    ///
    /// /// All other errors are final, and that is meant.
    /// const READS: ChainPolicy =
    ///     ChainPolicy::new().otherwise(Classification::new(RetrySafety::No));
    ///
    /// let outcome: Result<(), Box<dyn std::error::Error>> = Err("no such row".into());
    /// assert_eq!(READS.evaluate(&outcome), RetryDirective::fail(Some(RetryErrorType::Other)));
    /// ```
    #[must_use]
    pub const fn otherwise(mut self, classification: Classification) -> Self {
        self.otherwise = Some(classification);
        self
    }

    /// Sets whether the operation is idempotent, as [`StandardRetryPolicy::idempotent`] does.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.standard = self.standard.idempotent(idempotent);
        self
    }

    /// Adds a function that classifies the whole error. It is asked before the links of the chain, and returns `None` for
    /// an error that it leaves to them. Call this last.
    ///
    /// Use it for information that the owner of an error has and the chain does not show. An example is the context of
    /// an `anyhow::Error` or an `eyre::Report`: only their own `downcast_ref` finds it by its type.
    ///
    /// ```
    /// use anyhow::Context;
    /// use retry_core::classify::Classification;
    /// use retry_core::{ChainPolicy, RetryDirective, RetryErrorType, RetryInfo, RetryPolicy};
    /// # use std::fmt;
    ///
    /// #[derive(Debug, RetryInfo)]
    /// #[retry(throttling)]
    /// struct SlowDown;
    /// # impl fmt::Display for SlowDown {
    /// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("slow down") }
    /// # }
    ///
    /// # let status: Result<(), _> = Err(fmt::Error);
    /// let outcome = status.context(SlowDown);
    /// let policy = ChainPolicy::new().whole_first(|error: &anyhow::Error| {
    ///     error.downcast_ref::<SlowDown>().map(Classification::of)
    /// });
    /// assert_eq!(policy.evaluate(&outcome), RetryDirective::retry(RetryErrorType::Throttling));
    /// ```
    pub const fn whole_first<E: ErrorLike<K>, F>(self, known: F) -> WholeFirst<F, K>
    where
        F: Fn(&E) -> Option<Classification>,
    {
        WholeFirst { known, chain: self }
    }

    /// Returns the directive for an error. Use this in a policy that handles some outcomes itself.
    #[cold]
    pub fn evaluate_error<E: ErrorLike<K>>(&self, error: &E) -> RetryDirective {
        let known = |link: &(dyn Error + 'static)| {
            self.added.iter().flatten().find_map(|known| known(link)).or_else(|| chain::link(link))
        };
        match chain::first_known(error, known).or(self.otherwise) {
            Some(classification) => self.standard.evaluate_error(&classification),
            None => RetryDirective::fail(Some(RetryErrorType::Unknown)),
        }
    }
}

impl<T, E: ErrorLike<K>, K> RetryPolicy<Result<T, E>> for ChainPolicy<K> {
    #[inline]
    fn evaluate(&self, outcome: &Result<T, E>) -> RetryDirective {
        match outcome {
            Ok(_) => RetryDirective::succeed(),
            Err(error) => self.evaluate_error(error),
        }
    }

    fn unknown_error<'o>(&self, outcome: &'o Result<T, E>) -> Option<&'o (dyn Error + 'static)> {
        outcome.as_ref().err().map(ErrorLike::as_link)
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.standard.stated_idempotent()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn __moved(&self, outcome: Result<T, E>) -> Result<T, E> {
        by_parts(outcome)
    }

    fn __no_answer(&self, failure: NoAnswer) -> Unanswered<Result<T, E>> {
        Unanswered { directive: Some(self.standard.evaluate_error(&failure.classification())), ..Unanswered::unknown() }
    }
}

/// A [`ChainPolicy`] that asks a function about the whole error first. Created by [`ChainPolicy::whole_first`].
#[derive(Clone, Copy)]
pub struct WholeFirst<F, K = Owner> {
    known: F,
    chain: ChainPolicy<K>,
}

impl<T, E: ErrorLike<K>, F: Fn(&E) -> Option<Classification>, K> RetryPolicy<Result<T, E>> for WholeFirst<F, K> {
    #[inline]
    fn evaluate(&self, outcome: &Result<T, E>) -> RetryDirective {
        match outcome {
            Ok(_) => RetryDirective::succeed(),
            Err(error) => match (self.known)(error) {
                Some(classification) => self.chain.standard.evaluate_error(&classification),
                None => self.chain.evaluate_error(error),
            },
        }
    }

    fn unknown_error<'o>(&self, outcome: &'o Result<T, E>) -> Option<&'o (dyn Error + 'static)> {
        self.chain.unknown_error(outcome)
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.chain.standard.stated_idempotent()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn __moved(&self, outcome: Result<T, E>) -> Result<T, E> {
        by_parts(outcome)
    }

    fn __no_answer(&self, failure: NoAnswer) -> Unanswered<Result<T, E>> {
        self.chain.__no_answer(failure)
    }
}

impl<F, K> fmt::Debug for WholeFirst<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WholeFirst").field("chain", &self.chain).finish_non_exhaustive()
    }
}

impl<K> Default for ChainPolicy<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for ChainPolicy<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for ChainPolicy<K> {}

impl<K> fmt::Debug for ChainPolicy<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let added = self.added.iter().flatten().count();
        f.debug_struct("ChainPolicy")
            .field("added", &added)
            .field("otherwise", &self.otherwise)
            .field("standard", &self.standard)
            .finish_non_exhaustive()
    }
}
