//! The programs whose processes use a fleet, in memory.

/// The time for which a program is known after a call, in milliseconds.
const KNOWN: u64 = 60_000;
/// A time that is longer than this is not extended, so that most calls write nothing, in milliseconds.
const LONG: u64 = 30_000;

/// At most two programs, each with the end of its time. So the memory is bounded, and each program sees another.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs([(u64, String); 2]);

impl Programs {
    /// Notes a call of the named program, and returns the name of another one. A third program sees the first.
    pub(super) fn call(&mut self, now: u64, name: &str) -> Option<String> {
        let other = self.0.iter().find(|(ends, other)| *ends > now && other != name).map(|(_, other)| other.clone());
        let own = self.0.iter().position(|(ends, own)| *ends > now && own == name);
        if let Some(index) = own.or_else(|| self.0.iter().position(|(ends, _)| *ends <= now))
            && self.0[index].0 < now.saturating_add(LONG)
        {
            self.0[index] = (now.saturating_add(KNOWN), name.to_owned());
        }
        other
    }
}
