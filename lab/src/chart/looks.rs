//! How strategies look in all pictures, and the notes that explain their names.

use super::svg::{Look, Marker};
use retry_core::StandardRetryStrategy;

pub(super) const INK: Look = Look::new("ink", "5 4", Marker::None);
pub(super) const GREY: Look = Look::new("grey", "", Marker::Drop);
pub(super) const BLUE: Look = Look::new("blue", "", Marker::Circle);
pub(super) const RED: Look = Look::new("red", "9 4", Marker::Triangle);
pub(super) const GREEN: Look = Look::new("green", "6 3", Marker::Square);
pub(super) const ORANGE: Look = Look::new("orange", "", Marker::Diamond);
pub(super) const PURPLE: Look = Look::new("purple", "", Marker::Square);
pub(super) const DASHED_PURPLE: Look = Look::new("purple", "10 3 2 3", Marker::Diamond);
pub(super) const BLACK: Look = Look::new("ink", "2 2", Marker::Diamond);
/// The look of other crates, whose rows have their names.
const PEER: Look = Look::new("ink", "", Marker::Circle);
pub(super) const SKY: Look = Look::new("sky", "3 3", Marker::Triangle);

/// The name of a strategy with the user's own settings, which every picture shows if it is there.
pub(super) const YOURS: &str = "yours";

/// Returns the look of a strategy: the same one in each picture.
pub(super) fn look(strategy: &str) -> Look {
    match strategy {
        "no retries" => GREY,
        YOURS => SKY,
        "adaptive" => ORANGE,
        "evidence" | "paced" => GREEN,
        "paced, reports" => Look { marker: Marker::Circle, ..GREEN },
        "aws_2_0()" => PURPLE,
        "aws_2_1()" => DASHED_PURPLE,
        "10 % of successes" => BLACK,
        "three retries" | "no quota" => RED,
        _ if is_peer(strategy) => PEER,
        _ if strategy.ends_with(", no quota") => RED,
        _ => BLUE,
    }
}

/// Returns whether a strategy is that of another crate.
pub(super) fn is_peer(strategy: &str) -> bool {
    ["backon", "tokio-retry2", "tower"].contains(&strategy) || strategy.starts_with("aws-smithy-runtime, ")
}

/// Explains the standard strategies. The number of attempts is that of the scenario, or else that of the strategies.
pub(super) fn standard(attempts: Option<u64>) -> String {
    let shipped = StandardRetryStrategy::new().settings().max_attempts.into();
    let attempts = attempts.unwrap_or(shipped);
    format!(
        "new(): the standard strategy, up to {attempts} attempts for an operation. Its quota pays for retries, and stops them \
         while too many attempts fail."
    )
}

pub(super) const AWS: &str = "aws_2_1(), aws_2_0(): the same with the numbers of the AWS SDKs, current and older.";

pub(super) const LIMITERS: &str = "adaptive, paced: new() and a limiter, which learns the rate that the server accepts \
                                   and delays first attempts, too. adaptive does so as the AWS SDKs do. \
                                   Rejected attempts count, as all others do.";

/// Explains lines, bands and whiskers.
pub(super) fn spread(shape: &str, seeds: u64) -> String {
    format!("Medians of {seeds} runs; {shape}: 10th to 90th percentile.")
}

#[cfg(test)]
mod tests {
    use super::{YOURS, look};

    #[test]
    fn strategies_have_looks_of_their_own() {
        let strategies = [
            "no retries",
            "new()",
            "new(), no quota",
            "aws_2_0()",
            "aws_2_1()",
            "adaptive",
            "paced",
            "paced, reports",
            "10 % of successes",
        ];
        let mut looks: Vec<_> = strategies
            .iter()
            .chain([&YOURS])
            .map(|strategy| (look(strategy).colour, format!("{:?}", look(strategy).marker)))
            .collect();
        let count = looks.len();
        looks.sort();
        looks.dedup();
        assert_eq!(looks.len(), count);
    }
}
