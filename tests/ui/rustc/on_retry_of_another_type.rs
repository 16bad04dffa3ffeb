use retry_core::{Event, Observer, RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

struct Log;

impl Observer for Log {
    fn observe(&self, _: &Event) {}
}

#[retryable(strategy = "standard", on_retry = Log)]
async fn observer() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", on_retry = |error| drop(error))]
async fn without_the_event() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", on_retry = |error, event| error.missing(event))]
async fn mistake_in_the_closure() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", on_retry = |_, event| event.attempt < 3)]
async fn says_whether_to_go_on() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
