//! What a field of an error can be that holds the wait a server asked for.

use std::time::{Duration, SystemTime};

/// A field under `#[retry(retry_after)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no wait",
    label = "`#[retry(retry_after)]` can't read this type",
    note = "write `Duration`, `SystemTime` or an `Option` of either",
    note = "a whole number needs its unit: `#[retry(retry_after(secs))]` or `#[retry(retry_after(millis))]`"
)]
pub trait RetryAfterField {
    /// The wait from now on, if the field says one.
    fn wait(&self) -> Option<Duration>;
}

impl RetryAfterField for Duration {
    fn wait(&self) -> Option<Duration> {
        Some(*self)
    }
}

/// The wait is over for a time that is past.
impl RetryAfterField for SystemTime {
    fn wait(&self) -> Option<Duration> {
        Some(self.duration_since(SystemTime::now()).unwrap_or_default())
    }
}

impl<T: RetryAfterField> RetryAfterField for Option<T> {
    fn wait(&self) -> Option<Duration> {
        self.as_ref()?.wait()
    }
}

impl<T: RetryAfterField + ?Sized> RetryAfterField for &T {
    fn wait(&self) -> Option<Duration> {
        (**self).wait()
    }
}

/// A field under `#[retry(retry_after(secs))]` or `#[retry(retry_after(millis))]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no whole number",
    label = "`secs` and `millis` are for whole numbers",
    note = "write an integer or an `Option` of one; a type that knows its unit takes a plain `#[retry(retry_after)]`"
)]
pub trait RetryAfterNumber {
    /// The number, if there is one. A negative one says nothing.
    fn number(&self) -> Option<u64>;
}

impl RetryAfterNumber for u64 {
    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl RetryAfterNumber for $number {
            fn number(&self) -> Option<u64> {
                u64::try_from(*self).ok()
            }
        }
    )+};
}

/// What is too large for the time that there is stands for the longest time.
macro_rules! long_numbers {
    ($($number:ty),+) => {$(
        impl RetryAfterNumber for $number {
            fn number(&self) -> Option<u64> {
                if *self > <$number>::from(u64::MAX) { Some(u64::MAX) } else { u64::try_from(*self).ok() }
            }
        }
    )+};
}

long_numbers!(u128, i128);
numbers!(u8, u16, u32, usize, i8, i16, i32, i64, isize);

impl<T: RetryAfterNumber> RetryAfterNumber for Option<T> {
    fn number(&self) -> Option<u64> {
        self.as_ref()?.number()
    }
}

impl<T: RetryAfterNumber + ?Sized> RetryAfterNumber for &T {
    fn number(&self) -> Option<u64> {
        (**self).number()
    }
}
