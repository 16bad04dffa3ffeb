//! The line of a fleet: shipped processes whose operations wait for the service, and the store that passes sends from process to process.
//!
//! A state is the list of the steps so far, which are executed again for each state, because a strategy can't be compared.

use crate::millis::{At, at};
use crate::record::SILENCE;
use retry_core::limit::Ready;
use retry_core::strategy::PatientRetryToken;
use retry_core::{
    Failure, PatientRetryStrategy, RetryDirective, RetryErrorType, RetryQuota, RetryStrategy, RetryToken, Success,
};
use retry_fleet::Member;
use retry_fleet::protocol::{Call, LineCall, Reply};
use retry_fleet::store::MemoryStore;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Two operations of this process wait, and its attempts succeed.
const WAITING: usize = 0;
/// Two operations of this process wait, and it is cut off: its attempts fail.
const CUT_OFF: usize = 1;
/// The calls of this process succeed.
const HEALTHY: usize = 2;
const PLACES: usize = 3;
/// The successes of the healthy process in a step. They allow two sends.
const SUCCESSES: u32 = 4;
/// The times that pass in a step, in milliseconds. After the long one, processes are removed.
const SHORT: u64 = 400;
const LONG: u64 = SILENCE + 100;
/// The rounds after the faults, and the time of each in milliseconds: less than that of a probe. Rule U11.
const ROUNDS: u32 = 4;
const ROUND: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Call(usize, Fate),
    Succeed,
    Wait,
    /// The store gets a call that is late, or again.
    Deliver(usize),
    Silence,
    Empty,
    /// The faults end.
    Calm,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fate {
    Answered,
    CallIsLost,
    ReplyIsLost,
    /// The process gives up before the store gets the call.
    CallIsLate,
    /// The store gets the call again later.
    CallIsRepeated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutation {
    Nothing,
    /// The calls report the sends since the last call, not their total.
    AmountsAreReported,
    /// A process takes a reply twice.
    ReplyIsTakenTwice,
    /// A process asks for a send for each operation that waits, also if it is cut off.
    AllIsAskedFor,
    /// The replies do not say that operations of others wait.
    WaitingIsNotTold,
}

struct Process {
    strategy: Arc<PatientRetryStrategy>,
    member: Member,
    /// The operations that wait, and when each asks first.
    waiting: Vec<(PatientRetryToken, u64)>,
    successes: u64,
    /// The total number of sends that it has given, in halves.
    given: u64,
    /// What the store was told of them, if calls report amounts.
    reported: u64,
    /// Whether a send that others have granted has failed.
    has_failed: bool,
    /// The largest total in a call that the store has executed.
    executed: u64,
    /// When the store last executed a call, unless it was emptied since.
    executed_at: Option<u64>,
}

impl Process {
    fn new(place: usize, now: u64) -> Self {
        let strategy = Arc::new(PatientRetryStrategy::new().seed(1));
        let member = Member::new("orders", format!("p{place}"), at(now)).patient(Arc::clone(&strategy));
        let mut process = Self {
            strategy,
            member,
            waiting: Vec::new(),
            successes: 0,
            given: 0,
            reported: 0,
            has_failed: false,
            executed: 0,
            executed_at: None,
        };
        process.succeed(now);
        if place != HEALTHY {
            (0..2).for_each(|_| process.begin_to_wait(now));
        }
        process
    }

    fn begin(&self, now: u64) -> PatientRetryToken {
        let mut token = self.strategy.acquire_initial_token(&At(now)).unwrap();
        assert_eq!(self.strategy.ready(&mut token, &At(now), None), Ready::Now);
        token
    }

    fn succeed(&mut self, now: u64) {
        self.end_well(self.begin(now), now);
    }

    fn end_well(&mut self, token: PatientRetryToken, now: u64) {
        self.strategy.record_success(token, &Success::default(), &At(now + 10)).unwrap();
        self.successes += 1;
    }

    fn begin_to_wait(&mut self, now: u64) {
        while self.strategy.quota().pay(1, RetryErrorType::Other, &At(now)).is_some() {}
        let token = self.begin(now);
        self.fail(token, now);
    }

    /// An attempt fails, and its operation waits.
    fn fail(&mut self, token: PatientRetryToken, now: u64) {
        let failure = Failure::from_directive(RetryDirective::retry(RetryErrorType::ServerSide));
        match self.strategy.refresh_retry_token(token, &failure, &At(now)) {
            Ok(mut token) => {
                let from = now + u64::try_from(token.delay().as_millis()).unwrap();
                if from > now || self.strategy.ready(&mut token, &At(now), None) != Ready::Now {
                    self.waiting.push((token, from));
                }
            }
            Err(_) => self.begin_to_wait(now),
        }
    }

    /// Returns the operations that are sent.
    fn sent(&mut self, now: u64) -> Vec<PatientRetryToken> {
        let strategy = &self.strategy;
        let is_sent = |(token, from): &mut (PatientRetryToken, u64)| {
            *from <= now && strategy.ready(token, &At(now), None) == Ready::Now
        };
        self.waiting.extract_if(.., is_sent).map(|(token, _)| token).collect()
    }
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is what a property looks for")]
struct Outcome {
    /// Whether the store has granted more than the processes have given, or a process has given more than its successes allow.
    is_too_much: bool,
    /// Whether a process has sent more for a reply than it was granted.
    is_used_twice: bool,
    /// Whether a call that was repeated or overtaken has given sends.
    is_given_again: bool,
    /// Whether a process whose granted send has failed has asked for more than one.
    is_greedy: bool,
    /// Whether a late call has brought back a process, so that its sends are counted again.
    is_late_return: bool,
    /// The number of sends that the store has granted.
    granted: u64,
    /// The number of those that an operation has used.
    used: u64,
    /// Whether the process that waits gets a send after the faults, once they have ended.
    is_repaired: Option<bool>,
}

struct World {
    mutation: Mutation,
    now: u64,
    store: MemoryStore,
    processes: [Process; PLACES],
    late: Vec<(usize, Call, u64)>,
    outcome: Outcome,
}

impl World {
    fn new(mutation: Mutation) -> Self {
        let now = 10_000;
        let processes = [0, 1, 2].map(|place| Process::new(place, now));
        let (late, outcome) = (Vec::new(), Outcome::default());
        let mut world = Self { mutation, now, store: MemoryStore::new(), processes, late, outcome };
        (0..PLACES).for_each(|place| _ = world.call(place, Fate::Answered));
        world
    }

    fn after(mutation: Mutation, steps: &[Step]) -> Self {
        let mut world = Self::new(mutation);
        for step in steps {
            world.step(*step);
        }
        world
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Call(place, fate) => _ = self.call(place, fate),
            Step::Succeed => (0..SUCCESSES).for_each(|_| self.processes[HEALTHY].succeed(self.now)),
            Step::Wait => self.now += SHORT,
            Step::Silence => self.now += LONG,
            Step::Deliver(number) => self.deliver(number),
            Step::Empty => {
                self.store.forget();
                self.processes.iter_mut().for_each(|process| process.executed_at = None);
            }
            Step::Calm => self.calm(),
        }
    }

    /// Makes a call of a process, and returns the number of sends that it was granted.
    fn call(&mut self, place: usize, fate: Fate) -> u32 {
        let now = self.now;
        let is_greedy = |process: &Process, line: LineCall| process.has_failed && line.waiting > 1;
        // Probes, and operations that own successes send.
        loop {
            let own = self.processes[place].sent(now);
            if own.is_empty() {
                break;
            }
            self.end(place, own, false);
        }
        let process = &mut self.processes[place];
        let mut call = process.member.call(at(now), false);
        if self.mutation == Mutation::AllIsAskedFor {
            call.line.as_mut().unwrap().waiting = u32::try_from(process.waiting.len()).unwrap();
        }
        let line = call.line.unwrap();
        let amount = line.spare - process.given;
        process.given = line.spare;
        self.outcome.is_greedy |= is_greedy(process, line);
        let allowed = if place == HEALTHY { process.successes } else { 2 * process.successes };
        self.outcome.is_too_much |= process.given > allowed;
        let reply = match fate {
            Fate::CallIsLost | Fate::CallIsLate => None,
            _ => Some(self.execute(place, &call, amount)),
        };
        if let Fate::CallIsLate | Fate::CallIsRepeated = fate {
            self.late.push((place, call, amount));
        }
        let Some(mut reply) = reply.filter(|_| fate != Fate::ReplyIsLost) else {
            self.processes[place].member.unanswered(at(now), &"no answer");
            return 0;
        };
        let granted = reply.line.unwrap().granted;
        if self.mutation == Mutation::WaitingIsNotTold {
            reply.line.as_mut().unwrap().is_waiting = false;
        }
        let process = &mut self.processes[place];
        process.member.answered(at(now), &reply);
        if self.mutation == Mutation::ReplyIsTakenTwice {
            process.member.answered(at(now), &reply);
        }
        let sent = process.sent(now);
        self.outcome.is_used_twice |= sent.len() > granted as usize;
        self.outcome.used += sent.len() as u64;
        self.end(place, sent, true);
        granted
    }

    /// Ends attempts that were sent.
    fn end(&mut self, place: usize, sent: Vec<PatientRetryToken>, is_granted: bool) {
        let process = &mut self.processes[place];
        for token in sent {
            if place != CUT_OFF {
                process.end_well(token, self.now);
                continue;
            }
            process.has_failed |= is_granted;
            process.fail(token, self.now);
        }
    }

    /// The store executes a call, atomically.
    fn execute(&mut self, place: usize, call: &Call, amount: u64) -> Reply {
        let process = &mut self.processes[place];
        let mut call = call.clone();
        process.reported += amount;
        process.executed = process.executed.max(call.line.unwrap().spare);
        if self.mutation == Mutation::AmountsAreReported {
            call.line.as_mut().unwrap().spare = process.reported;
        }
        process.executed_at = Some(self.now);
        let reply = self.store.call(self.now, &call);
        self.outcome.granted += u64::from(reply.line.unwrap().granted);
        let given: u64 = self.processes.iter().map(|process| process.given).sum();
        self.outcome.is_too_much |= 2 * self.outcome.granted > given && !self.outcome.is_late_return;
        reply
    }

    /// The store gets a call that it has had, or that the process does not wait for.
    fn deliver(&mut self, number: usize) {
        let (place, call, amount) = self.late.remove(number);
        let process = &self.processes[place];
        let is_known = process.executed_at.is_some_and(|executed| self.now - executed < SILENCE);
        self.outcome.is_late_return |= !is_known;
        let is_overtaken = is_known && call.line.unwrap().spare <= process.executed;
        let before = self.kept();
        self.execute(place, &call, amount);
        self.outcome.is_given_again |= is_overtaken && self.kept() > before;
    }

    /// Returns the number of sends that the store keeps, without changing the store.
    fn kept(&self) -> u32 {
        let mut call = Call::new("stranger", "stranger's epoch");
        call.line = Some(LineCall { waiting: u32::MAX, longest_wait: Duration::MAX, spare: 0 });
        self.store.clone().call(self.now, &call).line.unwrap().granted
    }

    /// One more operation waits, and gets a send by successes of the healthy process.
    fn calm(&mut self) {
        self.late.clear();
        self.processes[WAITING].begin_to_wait(self.now);
        let mut granted = 0;
        for _ in 0..ROUNDS {
            for place in [HEALTHY, WAITING, CUT_OFF] {
                let granted_now = self.call(place, Fate::Answered);
                granted += if place == WAITING { granted_now } else { 0 };
            }
            self.step(Step::Succeed);
            self.now += ROUND;
        }
        self.outcome.is_repaired = Some(granted > 0);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    steps: Vec<Step>,
    outcome: Outcome,
}

struct Line {
    mutation: Mutation,
    /// The steps that each run begins with. They are among the number of steps.
    begin: &'static [Step],
    /// The number of steps before the calm, without deliveries of late calls.
    steps: usize,
    faults: usize,
}

impl Model for Line {
    type State = Run;
    type Action = Step;

    fn init_states(&self) -> Vec<Run> {
        vec![Run { steps: self.begin.to_vec(), outcome: World::after(self.mutation, self.begin).outcome }]
    }

    fn actions(&self, run: &Run, actions: &mut Vec<Step>) {
        use Fate::{Answered, CallIsLate, CallIsLost, CallIsRepeated, ReplyIsLost};
        if run.outcome.is_repaired.is_some() {
            return;
        }
        let count = |is: fn(&Step) -> bool| run.steps.iter().filter(|step| is(step)).count();
        let late = count(|step| matches!(step, Step::Call(_, CallIsLate | CallIsRepeated)));
        let late = late - count(|step| matches!(step, Step::Deliver(_)));
        if count(|step| !matches!(step, Step::Deliver(_))) == self.steps {
            return actions.push(Step::Calm);
        }
        let is_fault = |step: &Step| {
            matches!(step, Step::Silence | Step::Empty) || matches!(step, Step::Call(_, fate) if *fate != Answered)
        };
        let faults = run.steps.iter().filter(|step| is_fault(step)).count();
        actions.extend([Step::Succeed, Step::Wait]);
        actions.extend((0..late).map(Step::Deliver));
        let fates = [Answered, CallIsLost, ReplyIsLost, CallIsLate, CallIsRepeated];
        let fates = if faults < self.faults { &fates[..] } else { &fates[..1] };
        for place in 0..PLACES {
            actions.extend(fates.iter().map(|fate| Step::Call(place, *fate)));
        }
        if faults < self.faults {
            actions.extend([Step::Silence, Step::Empty]);
        }
    }

    fn next_state(&self, last: &Run, step: Step) -> Option<Run> {
        let mut steps = last.steps.clone();
        steps.push(step);
        let outcome = World::after(self.mutation, &steps).outcome;
        Some(Run { steps, outcome })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ALLOWED, |_, run: &Run| !run.outcome.is_too_much),
            Property::always(ONCE, |_, run: &Run| !run.outcome.is_used_twice),
            Property::always(REPEATED, |_, run: &Run| !run.outcome.is_given_again),
            Property::always(ONE, |_, run: &Run| !run.outcome.is_greedy),
            Property::always(REPAIRED, |_, run: &Run| run.outcome.is_repaired != Some(false)),
            Property::sometimes(USED, |_, run: &Run| run.outcome.used > 1 && run.outcome.is_repaired.is_none()),
            Property::sometimes(UNUSED, |_, run: &Run| run.outcome.used < run.outcome.granted),
        ]
    }
}

const ALLOWED: &str = "no more sends are granted than successes have allowed";
const ONCE: &str = "no send is used twice";
const REPEATED: &str = "a call that is repeated or overtaken gives nothing";
const ONE: &str = "a process whose granted send has failed asks for one send at a time";
const REPAIRED: &str = "after the faults, successes of one process send the operations of another";

// What happens in some runs, so the others say something.
const USED: &str = "sends are used";
const UNUSED: &str = "a send of a lost reply is not used";

// Rules F49, F50, U23, U24.
#[test]
fn sends_are_granted_and_used_once_in_all_runs() {
    let started = Instant::now();
    let faults = crate::faults();
    let line = Line { mutation: Mutation::Nothing, begin: &[], steps: 2 + faults, faults };
    let checker = line.checker().threads(2).spawn_dfs().join();
    println!("line: {} states, {:.1?}", checker.unique_state_count(), started.elapsed());
    checker.assert_properties();
}

/// Checks that a wrong protocol violates a property in a run that begins with these steps.
fn finds(mutation: Mutation, property: &'static str, begin: &'static [Step], steps: usize) {
    let line = Line { mutation, begin, steps, faults: 1 };
    let checker = line.checker().finish_when(HasDiscoveries::AnyOf([property].into())).spawn_bfs().join();
    let path = checker.assert_any_discovery(property);
    println!("{mutation:?}, {} states: {:?}", checker.unique_state_count(), path.into_actions());
}

#[test]
fn wrong_lines_are_found() {
    // Without successes, nothing is sent, so most other runs show nothing.
    let succeed = &[Step::Succeed];
    finds(Mutation::AmountsAreReported, ALLOWED, succeed, 4);
    finds(Mutation::AmountsAreReported, REPEATED, succeed, 3);
    finds(Mutation::ReplyIsTakenTwice, ONCE, succeed, 3);
    finds(Mutation::AllIsAskedFor, ONE, succeed, 4);
    finds(Mutation::WaitingIsNotTold, REPAIRED, &[], 1);
}
