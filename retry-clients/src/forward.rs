//! Types that have a classification.

/// Forwards [`RetryInfo`](trait@retry_core::RetryInfo) to the field `verdict`. The method `as_error` can be added, for a type that is an
/// error.
macro_rules! to_verdict {
    ($name:ident $(<$param:ident $(: $bound:path)?>)? $(, $as_error:item)?) => {
        impl $(<$param>)? retry_core::ErrorInfo for $name $(<$param>)? {
            fn fault(&self) -> retry_core::ErrorFault {
                self.verdict.fault()
            }
        }

        impl $(<$param $(: $bound + 'static)?>)? retry_core::RetryInfo for $name $(<$param>)? {
            fn is_retry_safe(&self) -> retry_core::RetrySafety {
                self.verdict.is_retry_safe()
            }

            fn is_throttle(&self) -> bool {
                self.verdict.is_throttle()
            }

            fn is_timeout(&self) -> bool {
                self.verdict.is_timeout()
            }

            fn is_conflict(&self) -> bool {
                self.verdict.is_conflict()
            }

            fn is_unknown(&self) -> bool {
                retry_core::RetryInfo::is_unknown(&self.verdict)
            }

            fn retry_after(&self) -> Option<std::time::Duration> {
                self.verdict.retry_after()
            }

            $($as_error)?
        }
    };
}
pub(crate) use to_verdict;
