use retry_core::{RetryInfo, TimedOut, retryable};
use std::rc::Rc;

#[derive(RetryInfo)]
struct Failed(Option<Rc<()>>);

impl From<TimedOut> for Failed {
    fn from(_: TimedOut) -> Self {
        Self(None)
    }
}

#[retryable(strategy = "standard", max_time = "30s")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {
    fn assert_send(_: impl Send) {}
    assert_send(get());
}

// Rule M5.
