//! Parts for authors of limiters, quotas and strategies. Programs that only retry do not need this module.
//!
//! | item | use |
//! |---|---|
//! | [`Shared`] | state in a `static` that each test has a fresh copy of |
//! | [`RandomNumbers`] | random numbers that a test can predict |
//! | [`Latest`], [`Observed`] | the latest reading of a clock that many threads read |
//! | [`StrategyClock`] | the clock that strategies see |
//! | [`SendQueue`], [`SendSupply`], [`Ticket`] | the queue of the operations that wait for a send, first come, first served |
//! | [`time_for`], [`GRACE`], [`RECHECK`] | the times of such a queue |
//!
//! A limiter whose operations send one after the other, at a fixed rate:
//!
//! ```
//! use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
//! use retry_core::parts::{Latest, Observed, SendQueue, SendSupply, Shared, Ticket, time_for};
//! use retry_core::strategy::LimitedRetryStrategy;
//! use retry_core::time::Timestamp;
//! use retry_core::{Clock, StandardRetryStrategy};
//! use std::sync::{Mutex, PoisonError};
//! use std::time::Duration;
//!
//! /// Sends per second.
//! const RATE: f64 = 20.0;
//!
//! /// The arithmetic: one send is available every 50 ms, and unused sends are not saved up.
//! #[derive(Debug)]
//! struct Even {
//!     latest: Latest,
//!     filled: Timestamp,
//!     next: Timestamp,
//! }
//!
//! impl SendSupply for Even {
//!     type Weight = ();
//!
//!     fn observe(&mut self, now: Timestamp) -> Observed {
//!         let observed = self.latest.observe(now);
//!         if let Some(earlier) = observed.went_back_to {
//!             self.next = self.next.min(earlier);
//!         }
//!         observed
//!     }
//!
//!     fn refill(&mut self, now: Timestamp) {
//!         self.filled = now;
//!     }
//!
//!     fn wait_for(&self, sends: f64) -> Duration {
//!         self.next.saturating_add(time_for(sends - 1.0, RATE)).saturating_since(self.filled)
//!     }
//!
//!     fn take(&mut self, (): ()) {
//!         self.next = self.next.max(self.filled).saturating_add(self.interval());
//!     }
//!
//!     fn give_back(&mut self, (): ()) {
//!         self.next = self.filled;
//!     }
//!
//!     fn interval(&self) -> Duration {
//!         time_for(1.0, RATE)
//!     }
//! }
//!
//! type State = Mutex<Option<SendQueue<Even>>>;
//!
//! /// The limiter: the queue behind a lock.
//! #[derive(Debug)]
//! struct EvenLimiter(Shared<State>);
//!
//! /// The place of an operation, and whether it may send.
//! #[derive(Debug, Default)]
//! struct Place {
//!     ticket: Option<Ticket>,
//!     is_granted: bool,
//! }
//!
//! impl EvenLimiter {
//!     fn with_queue<R>(
//!         &self,
//!         now: Timestamp,
//!         using: impl FnOnce(&mut SendQueue<Even>) -> R,
//!     ) -> R {
//!         let new = || Even { latest: Latest::new(now), filled: now, next: now };
//!         self.0.with(State::default, |queue| {
//!             let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
//!             using(queue.get_or_insert_with(|| SendQueue::new(new(), now)))
//!         })
//!     }
//! }
//!
//! impl SendLimiter for EvenLimiter {
//!     type Place = Place;
//!
//!     fn begin(&self, _: &dyn Clock) -> Place {
//!         Place::default()
//!     }
//!
//!     fn must_ask(&self, place: &Place) -> bool {
//!         !place.is_granted
//!     }
//!
//!     fn ask(&self, place: &mut Place, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
//!         let now = clock.now();
//!         let wait = self.with_queue(now, |queue| queue.ask(now, &mut place.ticket, ()));
//!         place.is_granted = wait.is_none();
//!         wait.map_or(Ready::Now, Ready::After)
//!     }
//!
//!     fn failed(&self, place: &mut Place, failure: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
//!         if failure == FailedSend::NotSent {
//!             self.release(place);
//!         }
//!         *place = Place::default();
//!         None
//!     }
//!
//!     fn release(&self, place: &mut Place) {
//!         let Place { ticket, is_granted } = std::mem::take(place);
//!         self.0.with(State::default, |queue| {
//!             if let Some(queue) = &mut *queue.lock().unwrap_or_else(PoisonError::into_inner) {
//!                 queue.give_up(ticket, is_granted.then_some(()));
//!             }
//!         });
//!     }
//! }
//!
//! static TABLE: LimitedRetryStrategy<EvenLimiter> = LimitedRetryStrategy::with_limiter(
//!     StandardRetryStrategy::new(),
//!     EvenLimiter(Shared::new(Mutex::new(None))),
//! );
//!
//! let clock = retry_core::time::ManualTimer::new();
//! let limiter = TABLE.limiter();
//! let (mut first, mut second) = (limiter.begin(&clock), limiter.begin(&clock));
//! assert_eq!(limiter.ask(&mut first, &clock, None), Ready::Now);
//! let wait = limiter.ask(&mut second, &clock, None).wait().unwrap();
//! assert!(wait > Duration::from_millis(49) && wait < Duration::from_millis(51));
//! ```

pub use crate::limit::queue::{GRACE, RECHECK, SendQueue, SendSupply, Ticket, time_for};
pub use crate::strategy::clock::StrategyClock;
pub use crate::support::Shared;
pub use crate::support::random::RandomNumbers;
pub use crate::time::latest::{Latest, Observed};
