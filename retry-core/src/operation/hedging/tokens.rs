//! The tokens of the two attempts of an operation with a hedge.

use crate::operation::release::TokenState;
use crate::operation::{RunningLimits, State};
use crate::strategy::RetryToken;

/// One of the attempts of an operation that has a hedge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The first attempt.
    First,
    /// The hedge.
    Hedge,
}

/// The token of the attempt that the operation does not deal with at present.
///
/// While two attempts run, the operation holds the token of one of them. So each step that deals with an attempt, with its time limit,
/// its usage and its end, is the same as without a hedge.
#[derive(Debug)]
pub(crate) struct OtherToken<K> {
    held: Lane,
    token: TokenState<K>,
}

impl<K: RetryToken, L: RunningLimits, N> State<K, L, N> {
    /// Makes the operation hold the token of the hedge. Returns that of the first attempt.
    pub(super) fn hold_hedge(&mut self, hedge: TokenState<K>) -> OtherToken<K> {
        OtherToken { held: Lane::Hedge, token: std::mem::replace(&mut self.token, hedge) }
    }

    /// Makes the operation hold the token of this attempt, if there are two.
    pub(super) fn hold_token_of(&mut self, lane: Lane, other: &mut Option<OtherToken<K>>) {
        if let Some(other) = other
            && other.held != lane
        {
            std::mem::swap(&mut self.token, &mut other.token);
            other.held = lane;
        }
    }
}
