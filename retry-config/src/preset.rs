//! The presets.

use retry_core::strategy::StandardRetryStrategy;

/// The numbers that a [`RetryConfig`](crate::RetryConfig) starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryPreset {
    /// [`StandardRetryStrategy::new`], written `default`.
    Default,
    /// [`StandardRetryStrategy::aws_2_0`], written `aws_2_0`.
    Aws20,
    /// [`StandardRetryStrategy::aws_2_1`], written `aws_2_1`.
    Aws21,
}

impl RetryPreset {
    const ALL: [Self; 3] = [Self::Default, Self::Aws20, Self::Aws21];

    /// Returns the name: `default`, `aws_2_0` or `aws_2_1`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Aws20 => "aws_2_0",
            Self::Aws21 => "aws_2_1",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.as_str() == name)
    }

    pub(super) const fn strategy(self) -> StandardRetryStrategy {
        match self {
            Self::Default => StandardRetryStrategy::new(),
            Self::Aws20 => StandardRetryStrategy::aws_2_0(),
            Self::Aws21 => StandardRetryStrategy::aws_2_1(),
        }
    }
}
