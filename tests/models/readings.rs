//! The readings of a clock, by rule K3.

/// The time in milliseconds by which readings of the clock may be out of order.
const DISORDER: u64 = 250;

/// The readings of a clock, in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    latest: Option<u64>,
    /// The earliest reading of those that are before the latest one.
    behind: Option<u64>,
}

impl Readings {
    /// Takes a reading. Returns the time to use, and if the clock was set back, the time from which it continues.
    pub(crate) fn read(&mut self, reading: u64) -> (u64, Option<u64>) {
        let latest = self.latest.unwrap_or(reading);
        let since = self.behind.map_or(reading, |behind| behind.min(reading));
        if reading < latest && reading - since < DISORDER {
            self.behind = Some(since);
            return (latest, None);
        }
        (self.latest, self.behind) = (Some(reading), None);
        (reading, (reading < latest).then_some(since))
    }
}
