use retry_core::{RetryInfo, TimedOut};

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling)]
    SlowDown,
    NoAnswer(TimedOut),
    NoAnswerOf {
        key: String,
        cut: retry_core::TimedOut,
    },
}

#[derive(RetryInfo)]
struct Failed(TimedOut);

#[derive(RetryInfo)]
#[retry(crate = ::retry_core, exhaustive)]
enum Exhaustive {
    NoAnswer(TimedOut),
}

#[derive(RetryInfo)]
#[retry(crate = ::retry_core)]
struct Renamed(TimedOut);

// Another mistake does not hide it.
#[derive(RetryInfo)]
enum Misspelt {
    #[retry(throtling)]
    SlowDown,
    NoAnswer(TimedOut),
}

macro_rules! holding {
    ($field:ty) => {
        #[derive(RetryInfo)]
        struct Holding($field);
    };
}
holding!(TimedOut);

// These say what it means.
#[derive(RetryInfo)]
enum Labelled {
    Marked(#[retry(transparent)] TimedOut),
    #[retry(never)]
    Never {
        key: String,
        cut: TimedOut,
    },
}

#[derive(RetryInfo)]
#[retry(safe)]
enum Safe {
    NoAnswer(TimedOut),
}

#[derive(RetryInfo)]
#[retry(crate = ::retry_core, transparent)]
struct Transparent(TimedOut);

fn main() {}

// Rule M20.
