//! The picture of the loop that every retried function becomes: its five steps, and each way out with its reason.

use super::looks::GREY;
use super::svg::{Look, Marker, Svg};
use retry_core::RetryError;

/// A step of the loop.
pub(super) struct Step {
    name: &'static str,
    meaning: &'static str,
    pub(super) exits: &'static [Exit],
}

/// A way out of a step.
pub(super) enum Exit {
    /// The operation returns its last outcome, for this reason.
    Stops(RetryError, &'static str),
    /// The operation succeeds, or continues in another way.
    Other(&'static str, &'static str),
}

/// The steps, with their exits in the order of the checks.
pub(super) const STEPS: [Step; 5] = [
    Step { name: "acquire", meaning: "a token, free", exits: &[Exit::Other("refused", "one attempt only")] },
    Step {
        name: "attempt",
        meaning: "run the function",
        exits: &[Exit::Stops(RetryError::MaxTime, "cut while it ran")],
    },
    Step {
        name: "classify",
        meaning: "what it means",
        exits: &[
            Exit::Other("success", "refunds the quota"),
            Exit::Stops(RetryError::NotRetryable, "a retry can't help"),
        ],
    },
    Step {
        name: "pay",
        meaning: "the shared quota",
        exits: &[
            Exit::Stops(RetryError::Disabled, "retries are off"),
            Exit::Stops(RetryError::MaxAttempts, "all were made"),
            Exit::Stops(RetryError::RetryAfterTooLong, "asked by the server"),
            Exit::Stops(RetryError::MaxTime, "the wait is too long"),
            Exit::Stops(RetryError::QuotaExhausted, "too many retries"),
        ],
    },
    Step {
        name: "wait",
        meaning: "backoff with jitter",
        exits: &[Exit::Stops(RetryError::Stopped, "a shutdown began")],
    },
];

const COLUMN: f64 = 156.0;
const LEFT: f64 = 10.0;
const BOX: (f64, f64) = (126.0, 50.0);
const TOP: f64 = 108.0;
/// The height of an exit.
const EXIT: f64 = 38.0;
/// The line that leads back to the attempt.
const BACK: f64 = 84.0;

/// Draws the loop.
pub fn retry_loop() -> String {
    let mut svg = Svg::new(
        "Each attempt runs through five steps, and each way out has a name",
        "A retried function, with the names that events, reports and logs use for the end of an operation",
    );
    #[expect(clippy::cast_precision_loss, reason = "there are five steps")]
    let left = |index: usize| LEFT + COLUMN * index as f64 + (COLUMN - BOX.0) / 2.0;
    let middle = |index: usize| left(index) + BOX.0 / 2.0;
    let mut bottom = TOP + BOX.1;
    svg.path("axis line", "", &[(middle(4), TOP), (middle(4), BACK), (middle(1), BACK), (middle(1), TOP - 6.0)]);
    svg.marker(GREY, (middle(1), TOP - 5.0));
    svg.text("small middle", (middle(2) + COLUMN / 2.0, BACK - 6.0), "the next attempt");
    for (index, step) in STEPS.iter().enumerate() {
        svg.rectangle("shade", (left(index), TOP), BOX);
        svg.text("strong middle", (middle(index), TOP + 22.0), step.name);
        svg.text("small middle", (middle(index), TOP + 40.0), step.meaning);
        if index + 1 < STEPS.len() {
            let y = TOP + BOX.1 / 2.0;
            svg.path("axis line", "", &[(left(index) + BOX.0, y), (left(index + 1) - 8.0, y)]);
            svg.marker(Look { marker: Marker::Beyond, ..GREY }, (left(index + 1) - 9.0, y));
        }
        let mut y = TOP + BOX.1;
        let x = left(index) + 8.0;
        #[expect(clippy::cast_precision_loss, reason = "a step has few exits")]
        svg.path("axis line", "", &[(x, y), (x, y + EXIT * step.exits.len() as f64 - 14.0)]);
        for exit in step.exits {
            let (class, name, meaning) = match exit {
                Exit::Stops(reason, meaning) => ("red", reason.as_str(), meaning),
                Exit::Other(name, meaning) => ("green", *name, meaning),
            };
            y += EXIT;
            svg.marker(Look { colour: class, marker: Marker::Beyond, ..GREY }, (x + 1.0, y - 14.0));
            svg.text(&format!("label {class}"), (x + 14.0, y - 10.0), name);
            svg.text("small", (x + 14.0, y + 5.0), meaning);
        }
        bottom = bottom.max(y + 8.0);
    }
    svg.finish(bottom, &[])
}
