//! What is known about the mutants: the file that is committed.
//!
//! A line for each function with the hash of its text, and below it the mutants that survived or that do not compile. What does not
//! depend on positions stays the same when code moves, and the results of different functions merge without conflicts.

use crate::rewrite::{Function, Kind, Mutant};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const HEAD: &str = "\
# What the tests notice. Written by `.ci/mutants`, see README.md. A function has its hash, the number of its mutants that were
# killed, those that survived (!), and those that do not compile (-).
";

/// The results of one function or constant.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Result {
    pub(crate) hash: u64,
    pub(crate) killed: usize,
    pub(crate) survived: BTreeSet<String>,
    pub(crate) uncompiled: BTreeSet<String>,
}

/// All results, by file and function.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Record(pub(crate) BTreeMap<String, BTreeMap<String, Result>>);

impl Record {
    /// Reads the file.
    pub(crate) fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut record = Self::default();
        let (mut file, mut function) = (None, None);
        for (index, line) in text.lines().enumerate() {
            let wrong = || format!("line {}: {line:?} is not a result", index + 1);
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            if let Some(change) = line.strip_prefix("        ! ").or_else(|| line.strip_prefix("        - ")) {
                let result: &mut Result = function
                    .as_ref()
                    .and_then(|(file, function)| record.0.get_mut(file).and_then(|of_file| of_file.get_mut(function)))
                    .ok_or_else(wrong)?;
                let list =
                    if line.trim_start().starts_with('!') { &mut result.survived } else { &mut result.uncompiled };
                list.insert(change.to_string());
            } else if let Some(line) = line.strip_prefix("    ") {
                let (name, values) = line.split_once(" | ").ok_or_else(wrong)?;
                let (hash, killed) = values.split_once(' ').ok_or_else(wrong)?;
                let hash = u64::from_str_radix(hash, 16).map_err(|_| wrong())?;
                let killed = killed.strip_suffix(" killed").and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
                let path: String = Option::clone(&file).ok_or_else(wrong)?;
                let result = Result { hash, killed, ..Result::default() };
                record.0.entry(path.clone()).or_default().insert(name.to_string(), result);
                function = Some((path, name.to_string()));
            } else {
                file = Some(line.to_string());
            }
        }
        Ok(record)
    }

    /// Returns the text of the file.
    pub(crate) fn text(&self) -> String {
        let mut text = HEAD.to_string();
        for (file, functions) in &self.0 {
            _ = write!(text, "\n{file}\n");
            for (name, Result { hash, killed, survived, uncompiled }) in functions {
                _ = writeln!(text, "    {name} | {hash:016x} {killed} killed");
                for change in survived {
                    _ = writeln!(text, "        ! {change}");
                }
                for change in uncompiled {
                    _ = writeln!(text, "        - {change}");
                }
            }
        }
        text
    }

    pub(crate) fn of(&self, file: &str, function: &str) -> Option<&Result> {
        self.0.get(file)?.get(function)
    }
}

/// Returns the hash of a function and its mutants (FNV-1a), which also changes when the rules of mutation do.
pub(crate) fn hash(function: &Function, mutants: &[Mutant]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(&function.tokens);
    for mutant in mutants.iter().filter(|mutant| mutant.function == function.name && mutant.kind != Kind::Use) {
        add(&mutant.change);
    }
    hash
}
