//! What a process reports to the program that started it: a line of words.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What a process has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// The objects copied.
    pub(crate) copied: u32,
    /// The requests sent.
    pub(crate) attempts: u32,
    /// The retries among them, and those about to be sent.
    pub(crate) retries: u32,
    /// The requests that were throttled.
    pub(crate) rejected: u32,
    /// The copies that failed and are repeated later.
    pub(crate) failed: u32,
    /// The limit on its writes, per second.
    pub(crate) share: Option<f64>,
    /// Whether the store answers. `None` without a store, and before the first answer.
    pub(crate) is_connected: Option<bool>,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { copied, attempts, retries, rejected, failed, share, is_connected } = self;
        let share = share.map_or_else(|| "-".to_owned(), |share| share.to_string());
        let is_connected = is_connected.map_or_else(|| "-".to_owned(), |it| it.to_string());
        write!(f, "{copied} {attempts} {retries} {rejected} {failed} {share} {is_connected}")
    }
}

impl FromStr for Report {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        read(line).ok_or_else(|| format!("invalid report of a process {line:?}: expected five numbers and two words"))
    }
}

fn read(line: &str) -> Option<Report> {
    let mut words = line.split(' ');
    let mut number = || words.next()?.parse().ok();
    let mut report = Report {
        copied: number()?,
        attempts: number()?,
        retries: number()?,
        rejected: number()?,
        failed: number()?,
        ..Report::default()
    };
    report.share = optional(words.next()?)?;
    report.is_connected = optional(words.next()?)?;
    words.next().is_none().then_some(report)
}

#[expect(clippy::option_option, reason = "a missing value is not an invalid one")]
fn optional<T: FromStr>(word: &str) -> Option<Option<T>> {
    if word == "-" { Some(None) } else { word.parse().ok().map(Some) }
}
