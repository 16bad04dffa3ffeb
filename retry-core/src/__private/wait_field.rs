//! The types of fields that hold the wait that a server asked for.

use std::time::{Duration, SystemTime};

/// The type of a field with `#[retry(retry_after)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a wait",
    label = "`#[retry(retry_after)]` can't read this type",
    note = "write `Duration`, `SystemTime` or an `Option` of either",
    note = "a whole number needs its unit: `#[retry(retry_after(secs))]` or `#[retry(retry_after(millis))]`"
)]
pub trait RetryAfterField {
    /// Returns the wait from now on, if the field holds one.
    fn wait(&self) -> Option<Duration>;
}

impl RetryAfterField for Duration {
    fn wait(&self) -> Option<Duration> {
        Some(*self)
    }
}

/// A time in the past is a wait of zero.
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

/// The type of a field with `#[retry(retry_after(secs))]` or `#[retry(retry_after(millis))]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a whole number",
    label = "`secs` and `millis` are for whole numbers",
    note = "write an integer or an `Option` of one; a type that knows its unit takes a plain `#[retry(retry_after)]`"
)]
pub trait RetryAfterNumber {
    /// Returns the number, if the field holds one. A negative number is ignored.
    fn number(&self) -> Option<u64>;
}

impl RetryAfterNumber for u64 {
    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

/// Implements the trait for integers of at most 64 bits.
macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl RetryAfterNumber for $number {
            fn number(&self) -> Option<u64> {
                u64::try_from(*self).ok()
            }
        }
    )+};
}

/// Implements the trait for longer integers. Values that do not fit into 64 bits saturate.
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
