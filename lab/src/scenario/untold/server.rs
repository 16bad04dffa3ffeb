//! Servers with cells, bans and a bad key, over the servers of [`worlds`](super::super::worlds).

use super::super::worlds::{Running, Server};
use crate::call::CallError;
use crate::servers::Limit;
use retry_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

/// A ban: a client that sends more than so many requests in some time gets everything rejected for a while.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ban {
    /// The requests, rejected ones included.
    pub requests: usize,
    /// The time in which they are counted, whenever it begins.
    pub within_s: f64,
    /// The length of the ban.
    pub lasts_s: f64,
    /// Whether a rejection says how long the ban still lasts.
    pub hints: bool,
}

/// The server of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The server of each key.
    pub server: Server,
    /// The keys with a separate limit, of which each operation has one.
    pub cells: u32,
    /// A ban for the sum of the requests.
    pub ban: Option<Ban>,
}

impl Site {
    /// Creates a site of one server.
    pub const fn of(server: Server) -> Self {
        Self { server, cells: 1, ban: None }
    }
}

/// A key of a site at work: what one operation meets.
pub enum Key {
    /// One that rejects everything.
    Bad,
    /// One with a limit, and the gate in front of it.
    Good {
        /// The limit.
        limit: Box<Running>,
        /// The gate.
        gate: Rc<Gate>,
    },
}

impl Limit for Key {
    fn admit(&self, now: Timestamp) -> Result<(), CallError> {
        match self {
            Self::Bad => Err(CallError::Throttled { retry_after: None }),
            Self::Good { limit, gate } => {
                gate.pass(now.saturating_since(Timestamp::START).as_secs_f64())?;
                limit.admit(now)
            }
        }
    }

    fn service(&self) -> Duration {
        match self {
            Self::Bad => Duration::ZERO,
            Self::Good { limit, .. } => limit.service(),
        }
    }
}

/// Counts requests for a ban.
pub struct Gate {
    ban: Option<Ban>,
    state: RefCell<(VecDeque<f64>, f64)>,
}

impl Gate {
    /// Creates a gate at which no request was counted yet.
    pub const fn new(ban: Option<Ban>) -> Self {
        Self { ban, state: RefCell::new((VecDeque::new(), 0.0)) }
    }

    fn pass(&self, now: f64) -> Result<(), CallError> {
        let Some(ban) = self.ban else { return Ok(()) };
        let (log, until) = &mut *self.state.borrow_mut();
        log.push_back(now);
        while log.front().is_some_and(|first| first + ban.within_s <= now) {
            log.pop_front();
        }
        if now >= *until && log.len() > ban.requests {
            *until = now + ban.lasts_s;
            log.clear();
        }
        if now >= *until {
            return Ok(());
        }
        let wait = Duration::try_from_secs_f64((*until - now).ceil()).unwrap_or(Duration::MAX);
        Err(CallError::Throttled { retry_after: ban.hints.then_some(wait) })
    }
}
