//! What a deadline can be given as.

use super::Timestamp;

/// The value of `deadline`: a point in time, or an `Option` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a point in time",
    label = "this is neither an `Instant` nor a `Timestamp`, nor an `Option` of one",
    note = "a deadline is an `Instant` of the standard library or of tokio, or a `Timestamp`; for a duration, write `max_time`",
    note = "in a generic function, a deadline is a `T` with `T: Into<Timestamp>`"
)]
pub trait AcceptedDeadline {
    /// Returns the same point in time; `None` means no deadline.
    fn accept(self) -> Option<Timestamp>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Timestamp>> AcceptedDeadline for T {
    #[inline]
    fn accept(self) -> Option<Timestamp> {
        Some(self.into())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Into<Timestamp>> AcceptedDeadline for Option<T> {
    #[inline]
    fn accept(self) -> Option<Timestamp> {
        self.map(T::into)
    }
}
