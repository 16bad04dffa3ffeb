//! A single-threaded executor in virtual time.

mod network;
mod random;
mod response;
mod sleep;

pub use network::Network;
pub use random::Random;
pub use response::{Request, Response, request};
pub use sleep::Sleep;

use retry_core::time::{Clock, Timer, Timestamp};
use sleep::Sleeps;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// A world of tasks with one virtual clock, which starts at [`Timestamp::START`].
///
/// A `World` is a handle: its clones share the clock and the tasks. It is a [`Timer`], so a call takes it by
/// `.timer(world.clone())`. The clock moves only while [`run`](World::run) or [`run_until`](World::run_until) runs, from
/// the end of one sleep to the end of the next one, when all tasks wait. Tasks that are due at the same instant run in
/// the order in which their sleeps began, so a run is deterministic.
///
/// To put a world on another clock, call [`next_event`](World::next_event) and [`advance_to`](World::advance_to) instead
/// of `run`.
///
/// ```
/// use lab::World;
/// use retry_core::time::{Clock, Timer};
/// use std::time::Duration;
///
/// let world = World::new();
/// let clock = world.clone();
/// world.spawn(async move { clock.sleep(Duration::from_secs(3600)).await });
/// world.run();
/// assert_eq!(world.elapsed(), Duration::from_secs(3600));
/// ```
#[derive(Clone)]
pub struct World {
    shared: Rc<Shared>,
}

struct Shared {
    now: Cell<Timestamp>,
    sleeps: RefCell<Sleeps>,
    /// The tasks by number. A number is used again after its task has ended.
    tasks: RefCell<Vec<Slot>>,
    free: RefCell<Vec<usize>>,
    ready: Arc<Ready>,
}

/// The place of a task. The future is taken out while it is polled.
struct Slot {
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    task: Arc<Task>,
    waker: Waker,
}

/// The numbers of the tasks that can continue, in the order in which they were woken.
type Ready = Mutex<VecDeque<usize>>;

/// The waker of a task.
struct Task {
    number: usize,
    is_queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::Relaxed) {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.number);
        }
    }
}

impl World {
    /// Creates a world without tasks, at [`Timestamp::START`].
    pub fn new() -> Self {
        let shared = Shared {
            now: Cell::new(Timestamp::START),
            sleeps: RefCell::default(),
            tasks: RefCell::default(),
            free: RefCell::default(),
            ready: Arc::default(),
        };
        Self { shared: Rc::new(shared) }
    }

    /// Returns the time since the start of the world.
    pub fn elapsed(&self) -> Duration {
        self.now().saturating_since(Timestamp::START)
    }

    /// Adds a task. It is polled first when the world runs, after the tasks that can already continue.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let mut tasks = self.shared.tasks.borrow_mut();
        let number = self.shared.free.borrow_mut().pop().unwrap_or(tasks.len());
        if number == tasks.len() {
            let ready = Arc::clone(&self.shared.ready);
            let task = Arc::new(Task { number, is_queued: AtomicBool::new(false), ready });
            tasks.push(Slot { future: None, waker: Waker::from(Arc::clone(&task)), task });
        }
        tasks[number].future = Some(Box::pin(future));
        tasks[number].task.wake_by_ref();
    }

    /// Runs until no task can ever continue, and drops the tasks that still wait.
    pub fn run(&self) {
        self.run_until(Timestamp::from_origin(Duration::MAX));
    }

    /// Runs until no task can ever continue, or to `end`, whichever comes first. Then drops the tasks that still wait.
    pub fn run_until(&self, end: Timestamp) {
        self.run_ready();
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.advance_to(next);
        }
        if end < Timestamp::from_origin(Duration::MAX) {
            self.shared.now.set(end);
        }
        // A task holds handles to the world, and its drop code may use the world.
        let tasks = std::mem::take(&mut *self.shared.tasks.borrow_mut());
        drop(tasks);
        self.shared.free.borrow_mut().clear();
        self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the end of the sleep that ends next, or `None` if no task sleeps.
    pub fn next_event(&self) -> Option<Timestamp> {
        self.shared.sleeps.borrow_mut().next_end()
    }

    /// Moves the clock to `now` and runs the tasks whose sleeps end by then, in the order of these ends. A time in the
    /// past does not move the clock.
    pub fn advance_to(&self, now: Timestamp) {
        self.run_ready();
        while let Some(end) = self.next_event().filter(|end| *end <= now) {
            self.shared.now.set(self.shared.now.get().max(end));
            let waker = self.shared.sleeps.borrow_mut().finish_next();
            if let Some(waker) = waker {
                waker.wake();
            }
            self.run_ready();
        }
        self.shared.now.set(self.shared.now.get().max(now));
    }

    /// Polls the tasks that can continue until all wait.
    fn run_ready(&self) {
        loop {
            let next = self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(number) = next else { return };
            let (mut future, waker) = {
                let slot = &mut self.shared.tasks.borrow_mut()[number];
                slot.task.is_queued.store(false, Ordering::Relaxed);
                let Some(future) = slot.future.take() else { continue };
                (future, slot.waker.clone())
            };
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                self.shared.tasks.borrow_mut()[number].future = Some(future);
            } else {
                // The future is dropped while nothing is borrowed, because its drop code may use the world.
                drop(future);
                self.shared.free.borrow_mut().push(number);
            }
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for World {
    fn now(&self) -> Timestamp {
        self.shared.now.get()
    }
}

impl Timer for World {
    type Sleep = Sleep;

    fn sleep(&self, delay: Duration) -> Sleep {
        self.sleep_until(self.now().saturating_add(delay))
    }
}

impl World {
    /// Returns a future that is ready at `end`.
    pub fn sleep_until(&self, end: Timestamp) -> Sleep {
        Sleep::new(self.clone(), end)
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("elapsed", &self.elapsed()).finish_non_exhaustive()
    }
}
