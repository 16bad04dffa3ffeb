//! The picture of the loop that every retried function becomes: its five steps, and each way out with its reason.

use super::lines::length;
use super::style::{GREY, Look, Marker};
use super::svg::Svg;
use retry_core::RetryError::{
    self, Disabled, MaxAttempts, MaxTime, NotRetryable, QuotaExhausted, RetryAfterTooLong, Stopped,
};

/// A way out of a step, and what it means: the operation succeeds or continues in another way, or it stops for a reason.
type Exit = (Result<&'static str, RetryError>, &'static str);

/// The steps, what they are, and their exits in the order of the checks.
const STEPS: [(&str, &str, &[Exit]); 5] = [
    ("acquire", "a token, free", &[(Ok("refused"), "one attempt only")]),
    ("attempt", "run the function", &[(Err(MaxTime), "cut while it ran")]),
    ("classify", "what it means", &[(Ok("success"), "refunds the quota"), (Err(NotRetryable), "a retry can't help")]),
    (
        "pay",
        "the shared quota",
        &[
            (Err(Disabled), "retries are off"),
            (Err(MaxAttempts), "all were made"),
            (Err(RetryAfterTooLong), "asked by the server"),
            (Err(MaxTime), "the wait is too long"),
            (Err(QuotaExhausted), "too many retries"),
        ],
    ),
    ("wait", "backoff with jitter", &[(Err(Stopped), "a shutdown began")]),
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
    let left = |index: usize| LEFT + COLUMN * length(index) + (COLUMN - BOX.0) / 2.0;
    let middle = |index: usize| left(index) + BOX.0 / 2.0;
    let mut bottom = TOP + BOX.1;
    svg.path("axis line", "", &[(middle(4), TOP), (middle(4), BACK), (middle(1), BACK), (middle(1), TOP - 6.0)]);
    svg.marker("mark", GREY, (middle(1), TOP - 5.0));
    svg.text("small middle", (middle(2) + COLUMN / 2.0, BACK - 6.0), "the next attempt");
    for (index, (name, meaning, exits)) in STEPS.into_iter().enumerate() {
        svg.rectangle("shade", (left(index), TOP), BOX);
        svg.text("strong middle", (middle(index), TOP + 22.0), name);
        svg.text("small middle", (middle(index), TOP + 40.0), meaning);
        if index + 1 < STEPS.len() {
            let y = TOP + BOX.1 / 2.0;
            svg.path("axis line", "", &[(left(index) + BOX.0, y), (left(index + 1) - 8.0, y)]);
            svg.marker("mark", Look { marker: Marker::Beyond, ..GREY }, (left(index + 1) - 9.0, y));
        }
        let (x, mut y) = (left(index) + 8.0, TOP + BOX.1);
        svg.path("axis line", "", &[(x, y), (x, y + EXIT * length(exits.len()) - 14.0)]);
        for (exit, meaning) in exits {
            let (colour, name) = exit.map_or_else(|reason| ("red", reason.as_str()), |name| ("green", name));
            y += EXIT;
            svg.marker("mark", Look { colour, marker: Marker::Beyond, ..GREY }, (x + 1.0, y - 14.0));
            svg.text(&format!("label {colour}"), (x + 14.0, y - 10.0), name);
            svg.text("small", (x + 14.0, y + 5.0), meaning);
        }
        bottom = bottom.max(y + 8.0);
    }
    svg.finish(bottom, "")
}
