//! The task that makes the calls of a process to the store of its fleet.

use crate::joined::Joined;
use crate::member::Member;
use crate::names::{is_name, name_of_program};
use crate::numbers;
use crate::protocol::Turn;
use crate::random::unique_name;
use crate::status::FleetStatus;
use crate::store::{Store, StoreError};
use crate::switch::{FleetSwitch, SwitchedOff, cut, reason_of, time_off};
use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use retry_core::{Clock, PatientRetryStrategy, TokioTimer};
use retry_limits::PacedStrategy;
use std::borrow::Borrow;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

/// The time within which the store has to answer a call.
const DEADLINE: Duration = Duration::from_secs(1);
/// A membership that is dropped within this time was probably dropped by mistake.
const BY_MISTAKE: Duration = Duration::from_secs(1);

/// What a process shares with its fleet, and where the fleet's state is kept.
///
/// ```no_run
/// use retry_core::PatientRetryStrategy;
/// use retry_fleet::Fleet;
/// use retry_fleet::redis1::RedisStore;
///
/// static ORDERS: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
/// let fleet = Fleet::new("orders", RedisStore::open("redis://127.0.0.1")?);
/// let membership = fleet.patient(&ORDERS).join()?;
/// // .. the program runs, and at its end:
/// membership.leave().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Fleet<S> {
    member: Member,
    store: S,
    is_given_twice: bool,
}

impl<S: Store> Fleet<S> {
    /// Creates the part of this process in the named fleet. Processes with the same name and the same store share.
    pub fn new(name: impl Into<String>, store: S) -> Self {
        let member = Member::new(name, unique_name(), TokioTimer.now()).program(name_of_program());
        Self { member, store, is_given_twice: false }
    }

    /// Shares what a quota by evidence, a static or an `Arc`, knows about retries. Each process pays for its own retries, and
    /// decides nearly as if all processes had one quota. No capacity needs to be set.
    #[must_use]
    pub fn quota(mut self, quota: impl Deref<Target = EvidenceQuota> + Send + Sync + 'static) -> Self {
        self.is_given_twice |= self.member.has()[0];
        self.member = self.member.quota(quota);
        self
    }

    /// Shares the quota of a [`PatientRetryStrategy`], as [`quota`](Self::quota) does, and the evidence that the service answers: after an
    /// outage, successes of any process send the operations that wait, in whichever process they wait. The strategy is a static or an `Arc`, and its
    /// quota an [`EvidenceQuota`] or a reference to one. `build_on(PatientRetryStrategy::new())` of the crate `retry-config` builds one, too. For a static `LazyLock`, write `.patient(&*ORDERS)`.
    #[must_use]
    pub fn patient<B: 'static, Q: Borrow<EvidenceQuota> + 'static>(
        mut self,
        strategy: impl Deref<Target = PatientRetryStrategy<B, Q>> + Send + Sync + 'static,
    ) -> Self {
        self.is_given_twice |= self.member.has()[0];
        self.member = self.member.patient(strategy);
        self
    }

    /// Shares the limit of a server among the processes: one rejection teaches all. The strategy is a static or an `Arc`, and
    /// each process limits its own sends to its share. It is a [`PacedRetryStrategy`](retry_limits::PacedRetryStrategy), or a
    /// `ConfiguredStrategy` of the crate `retry-config`, whose sends are limited while its mode is `paced`.
    #[must_use]
    pub fn limit(mut self, strategy: impl Deref<Target: PacedStrategy> + Send + Sync + 'static) -> Self {
        self.is_given_twice |= self.member.has()[1];
        self.member = self.member.limit(strategy);
        self
    }

    /// Shares a switch, a static or an `Arc`.
    #[must_use]
    pub fn switch(mut self, switch: impl Deref<Target = FleetSwitch> + Send + Sync + 'static) -> Self {
        self.is_given_twice |= self.member.has()[2];
        self.member = self.member.switch(switch);
        self
    }

    /// Sets the name of the program. The default is the name of its executable file.
    ///
    /// Two programs in one fleet are often different services that use the same name by mistake, so that their quotas and limits are mixed
    /// up. So each process logs the warning `other_program` with both names, [`Membership::other_program`] returns the other one, and
    /// `retry-fleet show` prints both. Programs that share a fleet on purpose give the same name here. It is cut to 128 bytes. With an
    /// empty name, nothing is compared.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.member = self.member.program(name);
        self
    }

    /// Joins the fleet, by a task on the current tokio runtime. It does not wait for the store.
    ///
    /// If the runtime ends, or the process can't reach the store, the process continues alone.
    ///
    /// # Errors
    ///
    /// Returns an error outside a tokio runtime, if a quota, limit or switch is joined to a fleet already or given twice, and if
    /// the name of the fleet is empty, has more than 128 bytes, or has a brace in it, which marks the slot of the keys in a
    /// cluster.
    ///
    /// # Panics
    ///
    /// The task panics, and the process continues alone, on a runtime whose timer is not enabled. Processes that fork must join
    /// after the fork, because a child has no task.
    pub fn join(self) -> Result<Membership, JoinError> {
        if !is_name(self.member.fleet()) {
            return Err(JoinError::InvalidName);
        }
        let runtime = Handle::try_current().map_err(|_| JoinError::NoRuntime)?;
        if self.is_given_twice {
            return Err(JoinError::GivenTwice);
        }
        let joined = Joined::new(self.member.parts()).ok_or(JoinError::AlreadyJoined)?;
        let (commands, receiver) = mpsc::channel(1);
        let (sender, status) = watch::channel(Known::of(&self.member));
        let task = Task {
            member: self.member,
            store: self.store,
            status: sender,
            joined_at: TokioTimer.now(),
            _joined: joined,
        };
        runtime.spawn(task.run(receiver));
        Ok(Membership { commands, status })
    }
}

/// The reason why a process can't join its fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// There is no tokio runtime on this thread.
    NoRuntime,
    /// The quota, the limit or the switch is part of a fleet that was joined before and not left since.
    AlreadyJoined,
    /// Two quotas, two limits or two switches were given.
    GivenTwice,
    /// The name of the fleet is empty, has more than 128 bytes, or has a brace in it.
    InvalidName,
}

impl Display for JoinError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidName => "can't join the fleet: expected a name of 1 to 128 bytes without braces",
            Self::GivenTwice => "can't join the fleet: its quota, strategy, limit or switch is given twice; give it one of each",
            Self::NoRuntime => "can't join the fleet: call `join` on a tokio runtime",
            Self::AlreadyJoined => {
                "can't join the fleet: its quota, strategy, limit or switch has joined a fleet already; give each fleet a separate one"
            }
        })
    }
}

impl Error for JoinError {}

/// The membership of a process in its fleet.
///
/// When it is dropped, the task leaves the fleet, if its runtime lives long enough. So at the end of a program, wait for
/// [`leave`](Membership::leave).
#[derive(Debug)]
#[must_use = "the process leaves the fleet when its membership is dropped: keep it, as in `let membership = fleet.join()?;`"]
pub struct Membership {
    commands: mpsc::Sender<Command>,
    status: watch::Receiver<Known>,
}

/// What the process knows about its fleet.
#[derive(Debug)]
struct Known {
    status: FleetStatus,
    turn: Option<(Turn, Timestamp)>,
    other_program: Option<String>,
}

impl Known {
    fn of(member: &Member) -> Self {
        let other_program = member.other_program().map(str::to_owned);
        Self { status: member.status(), turn: member.known_turn().cloned(), other_program }
    }
}

/// A command to the task, and the channel for its outcome.
enum Command {
    Turn(Duration, String, oneshot::Sender<Result<(), StoreError>>),
    Leave(oneshot::Sender<()>),
}

impl Membership {
    /// Returns what the process knows about its fleet.
    pub fn status(&self) -> FleetStatus {
        self.status.borrow().status
    }

    /// Returns how the retries of the fleet were turned off, as far as the process knows, unless that is over.
    pub fn switched_off(&self) -> Option<SwitchedOff> {
        let known = self.status.borrow();
        let (turn, until) = known.turn.as_ref()?;
        SwitchedOff::new(turn, *until, TokioTimer.now())
    }

    /// Returns the name of another program whose processes have called in the last minute, if the store knows one
    /// ([`Fleet::program`]).
    pub fn other_program(&self) -> Option<String> {
        self.status.borrow().other_program.clone()
    }

    /// Turns the retries of the whole fleet off for this time, and returns when the store knows it. The processes that have
    /// a [`FleetSwitch`] see it within 1.5 s.
    ///
    /// `by` and `reason` say who does it, and why, for example in the warnings of all processes. They are cut to 128 bytes each.
    ///
    /// # Errors
    ///
    /// Returns an error if the store does not answer. Then it is unknown whether the switch was turned.
    pub async fn turn_retries_off(&self, off_for: Duration, by: &str, reason: &str) -> Result<(), StoreError> {
        self.turn(time_off(off_for), reason_of(by, reason)).await
    }

    /// Turns the retries of the whole fleet on again, before the time is over. `by` says who does it, for the warnings and metrics of
    /// all processes. It is cut to 128 bytes, and may be empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the store does not answer. Then it is unknown whether the switch was turned.
    pub async fn turn_retries_on(&self, by: &str) -> Result<(), StoreError> {
        self.turn(Duration::ZERO, cut(by).to_owned()).await
    }

    async fn turn(&self, off_for: Duration, reason: String) -> Result<(), StoreError> {
        let (done, outcome) = oneshot::channel();
        let ended = || StoreError::new("the task of the fleet has ended, because its runtime has");
        self.commands.send(Command::Turn(off_for, reason, done)).await.map_err(|_| ended())?;
        outcome.await.map_err(|_| ended())?
    }

    /// Leaves the fleet, and returns when the store knows it, or after two seconds.
    pub async fn leave(self) {
        let (done, outcome) = oneshot::channel();
        if self.commands.send(Command::Leave(done)).await.is_ok() {
            let _ = outcome.await;
        }
    }
}

/// The task. When it is dropped, with its runtime, the process continues alone.
struct Task<S> {
    /// Dropped before the member, whose parts it names, and after `drop` has used them.
    _joined: Joined,
    member: Member,
    store: S,
    status: watch::Sender<Known>,
    joined_at: Timestamp,
}

impl<S: Store> Task<S> {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        numbers::describe(self.member.fleet());
        loop {
            let turned = match self.wait(&mut commands).await {
                Next::Call => None,
                Next::Command(Command::Turn(off_for, reason, done)) => {
                    self.member.turn_retries_off(off_for, reason, TokioTimer.now());
                    Some(done)
                }
                Next::Command(Command::Leave(done)) => {
                    let _ = self.call(true).await;
                    let _ = done.send(());
                    return;
                }
                Next::Leave => {
                    if TokioTimer.now().saturating_since(self.joined_at) < BY_MISTAKE {
                        crate::events::membership_dropped(self.member.fleet());
                    }
                    let _ = self.call(true).await;
                    return;
                }
            };
            let outcome = self.call(false).await;
            if let Some(done) = turned {
                let _ = done.send(outcome);
            }
        }
    }

    /// Waits for the time of the next call, or a command.
    async fn wait(&mut self, commands: &mut mpsc::Receiver<Command>) -> Next {
        let pause = self.member.next_call_at().saturating_since(TokioTimer.now());
        if pause.is_zero() {
            return Next::Call;
        }
        let mut pause = pin!(sleep(pause));
        poll_fn(|context| match commands.poll_recv(context) {
            Poll::Ready(command) => Poll::Ready(command.map_or(Next::Leave, Next::Command)),
            Poll::Pending => pause.as_mut().poll(context).map(|()| Next::Call),
        })
        .await
    }

    async fn call(&mut self, is_leaving: bool) -> Result<(), StoreError> {
        let call = self.member.call(TokioTimer.now(), is_leaving);
        let called_at = TokioTimer.now();
        let outcome = timeout(DEADLINE, self.store.call(self.member.fleet(), &call)).await;
        let now = TokioTimer.now();
        numbers::called(
            self.member.fleet(),
            match &outcome {
                Ok(Ok(_)) => Ok(now.saturating_since(called_at)),
                Ok(Err(_)) => Err("error"),
                Err(_) => Err("timeout"),
            },
        );
        let outcome = outcome.unwrap_or_else(|_| Err(StoreError::new("no answer within a second")));
        let outcome = match outcome {
            Ok(reply) => {
                self.member.answered(now, &reply);
                Ok(())
            }
            Err(error) => {
                self.member.unanswered(now, &error);
                Err(error)
            }
        };
        self.publish();
        outcome
    }
}

impl<S> Task<S> {
    /// Publishes what the process knows about its fleet.
    fn publish(&self) {
        let known = Known::of(&self.member);
        numbers::known(self.member.fleet(), &known.status);
        self.status.send_replace(known);
    }
}

impl<S> Drop for Task<S> {
    fn drop(&mut self) {
        self.member.end(TokioTimer.now());
        self.publish();
    }
}

/// What the task does next.
enum Next {
    Call,
    Command(Command),
    Leave,
}
