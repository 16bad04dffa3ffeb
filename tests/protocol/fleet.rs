//! The model of a fleet, its properties, and the runs of the checker.

use crate::mutation::Mutation;
use crate::record::Problem;
use crate::state::{Deed, Fate, Left, PLACES, Phase, State};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::time::Instant;

/// The time of a tick, in milliseconds. After two of them, the time of a process is over.
const TICK: u64 = 1_500;
/// A pause in which the store counts all processes again, in milliseconds.
const LEAP: u64 = 30_000;
/// The time between two calls of each process without faults, in milliseconds, and the number of such calls.
const CALM: u64 = 1_000;
const ROUNDS: u32 = 4;

struct Fleet {
    mutation: Mutation,
    left: Left,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Exchange(usize, Deed, Fate),
    Receive(usize),
    Deliver(usize),
    Tick,
    Leap,
    Crash(usize),
    Start(usize),
    Empty,
    Evict,
    /// The faults end, and the living call in this order.
    Calm(Vec<usize>),
    Settle,
}

const ORDERS: [[usize; PLACES]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

impl Fleet {
    fn calls(state: &State, place: usize, actions: &mut Vec<Action>) {
        use Fate::{Answered, CallIsLate, CallIsLost, CallIsRepeated, ReplyIsLate, ReplyIsLost};
        let fates = [Answered, CallIsLost, ReplyIsLost, CallIsLate, CallIsRepeated, ReplyIsLate];
        let fates = if state.left.faults > 0 { &fates[..] } else { &fates[..1] };
        for fate in fates {
            actions.push(Action::Exchange(place, Deed::Nothing, *fate));
            if state.left.works > 0 {
                actions.push(Action::Exchange(place, Deed::Work, *fate));
            }
            // A turn that is executed again is a new turn, whatever was turned in between.
            if state.left.turns > 0 && *fate != CallIsRepeated {
                actions.push(Action::Exchange(place, Deed::Turn, *fate));
            }
        }
    }
}

impl Model for Fleet {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::joined(self.left, self.mutation)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        match state.phase {
            Phase::Faults => {}
            Phase::Calm(_) => return actions.push(Action::Settle),
            Phase::Settled(_) => return,
        }
        for (place, process) in state.processes.iter().enumerate() {
            match (process.is_living, process.reply.is_some()) {
                (true, true) => actions.push(Action::Receive(place)),
                (true, false) => Self::calls(state, place, actions),
                (false, _) if state.left.starts > 0 => actions.push(Action::Start(place)),
                (false, _) => {}
            }
        }
        actions.extend((0..state.late.len()).map(Action::Deliver));
        if state.left.ticks > 0 {
            actions.push(Action::Tick);
        }
        if state.left.faults > 0 {
            for (place, process) in state.living() {
                actions.push(Action::Crash(place));
                if process.reply.is_none() {
                    actions.push(Action::Exchange(place, Deed::Leave, Fate::Answered));
                    actions.push(Action::Exchange(place, Deed::Leave, Fate::CallIsLate));
                }
            }
            actions.extend([Action::Leap, Action::Empty, Action::Evict]);
        } else {
            let mut orders = ORDERS
                .map(|order| order.into_iter().filter(|place| state.processes[*place].is_living).collect::<Vec<_>>())
                .to_vec();
            orders.sort();
            orders.dedup();
            actions.extend(orders.into_iter().map(Action::Calm));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        match action {
            Action::Exchange(place, deed, fate) => {
                next.left.works -= u32::from(deed == Deed::Work);
                next.left.turns -= u32::from(deed == Deed::Turn);
                next.exchange(place, deed, fate, self.mutation);
                next.left.faults -= u32::from(fate != Fate::Answered || deed == Deed::Leave);
            }
            Action::Receive(place) => next.receive(place),
            Action::Deliver(number) => next.deliver(number, self.mutation),
            Action::Tick => {
                next.left.ticks -= 1;
                next.wait(TICK);
            }
            Action::Leap => {
                next.left.faults -= 1;
                next.wait(LEAP);
            }
            Action::Crash(place) => {
                next.left.faults -= 1;
                next.crash(place);
            }
            Action::Start(place) => {
                next.left.starts -= 1;
                next.start(place);
            }
            Action::Empty | Action::Evict => {
                next.left.faults -= 1;
                next.empty(action == Action::Evict);
            }
            Action::Calm(order) => {
                next.late.clear();
                next.wait(CALM);
                next.phase = Phase::Calm(next.latest_turn(self.mutation));
                for place in order {
                    next.exchange(place, Deed::Nothing, Fate::Answered, self.mutation);
                }
            }
            Action::Settle => {
                for _ in 0..ROUNDS {
                    next.wait(CALM);
                    for place in 0..PLACES {
                        if next.processes[place].is_living {
                            next.exchange(place, Deed::Nothing, Fate::Answered, self.mutation);
                        }
                    }
                }
                let Phase::Calm(latest) = next.phase else { return None };
                next.phase = Phase::Settled(latest);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(SUMS, |model, state: &State| state.sums(model.mutation) == state.record.sums(state.now)),
            Property::always(ONCE, |model, state: &State| {
                state.record.is_late_return || state.counts_once(model.mutation)
            }),
            Property::always(VALUES, |_, state: &State| {
                state.record.problem != Some(Problem::UnknownTurn)
                    && state.living().all(|(_, process)| process.knows.turn_is_in(&state.record))
            }),
            Property::always(OLDER, |_, state: &State| {
                !matches!(state.record.problem, Some(Problem::OlderTurn | Problem::OlderReply))
            }),
            Property::always(NUMBERS, |_, state: &State| state.record.problem != Some(Problem::SmallNumber)),
            Property::always(NOTICED, |_, state: &State| state.record.problem != Some(Problem::Unnoticed)),
            // Only the last states of runs can satisfy it, so no run is taken for another one in which it was satisfied before.
            Property::eventually(REPAIRED, |model, state: &State| is_repaired(state, model.mutation)),
            Property::sometimes(COUNTED, |model, state: &State| {
                let living = u32::try_from(state.living().count()).unwrap();
                state.sums(model.mutation).members > living
            }),
            Property::sometimes(NOT_COUNTED, |model, state: &State| {
                let living = u32::try_from(state.living().count()).unwrap();
                state.sums(model.mutation).members < living
            }),
            Property::sometimes(NOT_RESTORED, |model, state: &State| {
                state.probe(0, model.mutation).turn.is_none() && state.latest_turn(model.mutation).is_some()
            }),
            Property::sometimes(LOST, |model, state: &State| {
                state.latest_turn(model.mutation).is_none() && !state.record.turns.is_empty()
            }),
            Property::sometimes(BROUGHT_BACK, |_, state: &State| state.record.is_late_return),
        ]
    }
}

const SUMS: &str = "the sums in the store are those of the last reports of the processes whose time is not over";
const ONCE: &str = "no answer is counted twice";
const VALUES: &str = "each turn that a process knows was made";
const OLDER: &str = "no older turn replaces a later one";
const NUMBERS: &str = "a later turn has a larger number";
const NOTICED: &str = "each process notices that the store was emptied";
const REPAIRED: &str = "the living are known, know the latest turn, and their sums are right";

// What happens in some runs, so the others say something.
const COUNTED: &str = "a dead process is counted";
const NOT_COUNTED: &str = "a living process is not counted";
const NOT_RESTORED: &str = "the store has not restored a turn yet";
const LOST: &str = "a turn is lost with the store, because no living process knows it";
const BROUGHT_BACK: &str = "a late call has brought back a process";

/// Returns whether the faults are over and forgotten.
fn is_repaired(state: &State, mutation: Mutation) -> bool {
    let Phase::Settled(latest) = &state.phase else { return false };
    let reply = state.probe(0, mutation);
    let (number, reason) = reply.turn.as_ref().map_or((0, None), |turn| (turn.number, Some(&turn.reason)));
    let sums = state.right_sums();
    let mut living = state.living();
    reason == latest.as_ref()
        && state.sums(mutation) == sums
        && living.all(|(_, process)| {
            let knows = &process.knows;
            knows.epoch() == Some(&reply.epoch)
                && knows.members() == sums.members
                && !knows.is_lost()
                && knows.turned() == number
        })
}

/// Checks all runs in which this much happens.
fn check(left: Left) {
    let started = Instant::now();
    let checker = Fleet { mutation: Mutation::Nothing, left }.checker().threads(2).spawn_dfs().join();
    let (states, transitions) = (checker.unique_state_count(), checker.state_count());
    println!("{left:?}: {states} states, {transitions} transitions, {:.1?}", started.elapsed());
    for property in checker.model().properties() {
        if property.expectation.discovery_is_failure() {
            checker.assert_no_discovery(property.name);
        }
    }
    let found = checker.discoveries();
    for (name, is_possible) in [
        (COUNTED, left.faults > 0),
        (NOT_COUNTED, left.faults > 0),
        (NOT_RESTORED, left.faults > 0 && left.turns > 0),
        (LOST, left.faults > 1 && left.turns > 0),
        (BROUGHT_BACK, left.faults > 0 && left.ticks > 1),
    ] {
        assert!(found.contains_key(name) || !is_possible, "no run in which {name}");
    }
}

fn faults() -> u32 {
    u32::try_from(crate::faults()).unwrap()
}

// Rules F2, F3, F17, F29.
#[test]
fn all_processes_are_known_and_counted_once_in_all_runs() {
    check(Left { faults: faults(), turns: 0, works: 1, ticks: 2, starts: 0 });
}

// Rules F3, F34.
#[test]
fn the_latest_turn_of_the_switch_is_kept_in_all_runs() {
    check(Left { faults: faults(), turns: 2, works: 0, ticks: 0, starts: 0 });
}

// Rules F2, F3, F17, F34.
#[test]
fn the_latest_turn_is_kept_while_processes_end_and_start() {
    check(Left { faults: faults(), turns: 1, works: 0, ticks: 1, starts: 1 });
}

// Rules F2, F3.
#[test]
fn more_faults_at_the_same_time_are_repaired() {
    check(Left { faults: faults() + 1, turns: 0, works: 0, ticks: 0, starts: 0 });
}

/// Checks that a wrong protocol violates a property.
fn finds(mutation: Mutation, property: &'static str, left: Left) {
    let checker =
        Fleet { mutation, left }.checker().finish_when(HasDiscoveries::AnyOf([property].into())).spawn_bfs().join();
    let path = checker.assert_any_discovery(property);
    println!("{mutation:?}, {} states: {:?}", checker.unique_state_count(), path.into_actions());
}

#[test]
fn wrong_protocols_are_found() {
    let nothing = Left { faults: 1, turns: 0, works: 0, ticks: 0, starts: 0 };
    finds(Mutation::TurnIsNotReported, OLDER, Left { turns: 1, ..nothing });
    finds(Mutation::TurnIsTakenForTheLatest, VALUES, Left { turns: 2, ..nothing });
    finds(Mutation::ClockBeginsAgain, NUMBERS, Left { turns: 2, ..nothing });
    finds(Mutation::LateCallIsTakenForAnotherProcess, SUMS, nothing);
    finds(Mutation::TotalsAreNewAfterARemoval, ONCE, Left { works: 1, ..nothing });
    finds(Mutation::TimeIsNeverOver, SUMS, Left { ticks: 2, ..nothing });
    finds(Mutation::EpochIsTheSame, NOTICED, nothing);
}
