//! What a time limit can be given as.

use std::time::Duration;

/// The value of `max_time` or `attempt_timeout`, in an attribute or a method. All of them are an `Option` of a `Duration` in the end, so one
/// impl is enough.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a length of time",
    label = "expected a `Duration` or an `Option<Duration>`",
    note = "write `Duration::from_secs(30)`, or in an attribute a text, as in `max_time = \"30s\"`; a number has no unit, so write `Duration::from_secs(number)`",
    note = "`None` means no limit; in a generic function, a limit is a `T` with `T: Into<Option<Duration>>`"
)]
pub trait AcceptedLimit {
    /// Returns the limit; `None` means no limit.
    fn accept(self) -> Option<Duration>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Option<Duration>>> AcceptedLimit for T {
    #[inline]
    fn accept(self) -> Option<Duration> {
        self.into()
    }
}
