//! What a world consists of.

use super::super::faults::{self, Fault, Server};
use serde::{Deserialize, Serialize};

/// A world: who calls, a server, and what happens to it. What is not given has the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// The name.
    pub name: String,
    /// What kind of world it is.
    pub kind: String,
    /// The requests that a replica of the server can serve in a second: 300.
    pub rate: f64,
    /// The replicas of the server: 1. Each attempt goes to one of them at random.
    pub replicas: u32,
    /// The time from a request to its response if the server needs none: 20 ms.
    pub round_trip_ms: f64,
    /// The client's timeout of an attempt, or none: 1 s.
    pub timeout_s: Option<f64>,
    /// How long an operation may take, or no limit: 15 s. The world is run with each of them.
    pub live_s: Vec<Option<f64>>,
    /// The operations that begin in a second, as a part of what one replica can serve: 0.5.
    pub load: f64,
    /// The numbers of processes that make them, each with a quota: 1, 10, 100 and 1,000.
    pub processes: Vec<u32>,
    /// How long a process lives, in seconds, if it is replaced by another one.
    pub lives_s: Option<f64>,
    /// Whether a new process makes each operation.
    pub is_lone: bool,
    /// Jobs that processes do, in place of the load.
    pub jobs: Option<Jobs>,
    /// What becomes of the first attempts of each operation. The server has the others.
    pub first_attempts: Vec<Answer>,
    /// When the time begins that is measured, in seconds: 30.
    pub begins_s: u32,
    /// The length of this time, in seconds: 10.
    pub fault_s: u32,
    /// The faults.
    pub faults: Vec<Spell>,
    /// How long a server may take to recover, in seconds: 400.
    pub after_s: u32,
    /// The number of runs that are added up for each seed, where one has few operations: 1.
    pub runs: u32,
}

impl Default for World {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: String::new(),
            rate: 300.0,
            replicas: 1,
            round_trip_ms: 20.0,
            timeout_s: Some(1.0),
            live_s: vec![Some(15.0)],
            load: 0.5,
            processes: vec![1, 10, 100, 1_000],
            lives_s: None,
            is_lone: false,
            jobs: None,
            first_attempts: Vec::new(),
            begins_s: 30,
            fault_s: 10,
            faults: Vec::new(),
            after_s: 400,
            runs: 1,
        }
    }
}

/// Processes that each make some calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jobs {
    /// The number of processes: 1.
    pub processes: u32,
    /// The time in which they begin, evenly, in seconds: 0.
    pub over_s: f64,
    /// The calls that a process makes at a time: 1.
    pub workers: u32,
    /// The calls of a process: 1.
    pub calls: u32,
    /// The time between two calls of a worker, in seconds: 0.
    pub pause_s: f64,
    /// The calls that a process has made before, one in a second: 0. They are not measured.
    pub before: u32,
    /// The time without calls after them, in seconds: 0.
    pub idle_s: f64,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { processes: 1, over_s: 0.0, workers: 1, calls: 1, pause_s: 0.0, before: 0, idle_s: 0.0 }
    }
}

/// What becomes of an attempt that the server does not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It fails.
    Failed,
    /// It gets no answer.
    None,
}

/// A fault, and when it begins and ends, in seconds since the begin of the time that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spell {
    /// The fault.
    pub fault: Fault,
    /// When it begins: 0.
    #[serde(default)]
    pub from_s: f64,
    /// When it ends, if that is not the end of the time that is measured.
    #[serde(default)]
    pub to_s: Option<f64>,
    /// The replica that has it, counted from 0, if not all have it.
    #[serde(default)]
    pub replica: Option<u32>,
}

impl From<Fault> for Spell {
    fn from(fault: Fault) -> Self {
        Self { fault, from_s: 0.0, to_s: None, replica: None }
    }
}

impl World {
    /// Creates the replicas of the server.
    pub(super) fn servers(&self, seed: u64) -> Vec<Server> {
        let begins = f64::from(self.begins_s);
        let spells = |replica| {
            let spells = self.faults.iter().filter(move |spell| spell.replica.is_none_or(|of| of == replica));
            let spells = spells.map(|spell| faults::Spell {
                fault: spell.fault,
                from: begins + spell.from_s,
                to: begins + spell.to_s.unwrap_or_else(|| self.fault_s.into()),
            });
            spells.collect()
        };
        let server = |replica: u32| {
            Server::new(spells(replica), self.rate, self.round_trip_ms / 1e3, seed ^ u64::from(replica) << 40)
        };
        (0..self.replicas.max(1)).map(server).collect()
    }
}
