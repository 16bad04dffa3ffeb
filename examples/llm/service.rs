//! The service: it admits prompts by its limits, and streams the answers as events with ids.

use crate::limits::Limits;
use crate::prompts::Prompt;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use std::cell::{Cell, RefCell};
use std::io::{Error, ErrorKind};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The number of events of an answer.
pub(crate) const EVENTS: u32 = 40;
/// The time between two events.
const EVENT: Duration = Duration::from_millis(50);
/// The time that a request takes in each direction.
const TRANSFER: Duration = Duration::from_millis(20);

/// What the service does with a request besides its limits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Account {
    Paid,
    /// The quota of the account is used up.
    Unpaid,
    /// The limit of the day is used up, and is reset in six minutes.
    UsedUp,
}

pub(crate) struct Service {
    account: Account,
    limits: RefCell<Limits>,
    pub(crate) requests: Cell<u32>,
    pub(crate) rejected: Cell<u32>,
    pub(crate) resumed: Cell<u32>,
    /// When prompts were admitted, and their tokens.
    pub(crate) admitted: RefCell<Vec<(Instant, u32)>>,
}

/// The response to a request that was not admitted. A real service has the code in a JSON document.
pub(crate) struct Rejected {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) code: &'static str,
}

impl Service {
    pub(crate) fn new(account: Account) -> Self {
        Self {
            account,
            limits: RefCell::new(Limits::new()),
            requests: Cell::new(0),
            rejected: Cell::new(0),
            resumed: Cell::new(0),
            admitted: RefCell::default(),
        }
    }

    /// Opens the stream of an answer after the event `last_id`, which is 0 at first. An answer that continues uses no tokens.
    pub(crate) async fn open(&self, prompt: &Prompt, last_id: u32) -> Result<Events, Rejected> {
        sleep(TRANSFER).await;
        self.requests.set(self.requests.get() + 1);
        let tokens = if last_id == 0 { prompt.tokens } else { 0 };
        if let Err(rejected) = self.admit(tokens) {
            self.rejected.set(self.rejected.get() + 1);
            sleep(TRANSFER).await;
            return Err(rejected);
        }
        if last_id == 0 {
            self.admitted.borrow_mut().push((Instant::now(), tokens));
        } else {
            self.resumed.set(self.resumed.get() + 1);
        }
        sleep(TRANSFER).await;
        // Two of every hundred streams break, each once.
        let breaks_after = (prompt.number % 50 == 17 && last_id == 0).then_some(1 + prompt.number % EVENTS);
        Ok(Events { last_id, breaks_after, tokens })
    }

    fn admit(&self, tokens: u32) -> Result<(), Rejected> {
        let (code, headers) = match self.account {
            Account::Paid => match self.limits.borrow_mut().admit(tokens) {
                Ok(()) => return Ok(()),
                Err(headers) => ("rate_limit_exceeded", headers),
            },
            Account::Unpaid => ("insufficient_quota", HeaderMap::new()),
            Account::UsedUp => {
                let mut headers = HeaderMap::new();
                headers.insert("x-ratelimit-remaining-requests", HeaderValue::from_static("0"));
                headers.insert("x-ratelimit-reset-requests", HeaderValue::from_static("6m0s"));
                ("rate_limit_exceeded", headers)
            }
        };
        Err(Rejected { status: StatusCode::TOO_MANY_REQUESTS, headers, code })
    }
}

/// An open stream.
pub(crate) struct Events {
    last_id: u32,
    breaks_after: Option<u32>,
    /// The tokens that the request used of the limit.
    pub(crate) tokens: u32,
}

impl Events {
    /// Returns the id of the next event, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<u32>, Error> {
        sleep(EVENT).await;
        if self.breaks_after == Some(self.last_id) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.last_id += 1;
        Ok((self.last_id <= EVENTS).then_some(self.last_id))
    }
}
