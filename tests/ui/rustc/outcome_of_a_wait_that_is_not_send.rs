use retry_core::{RetryInfo, retryable};
use std::rc::Rc;

#[derive(RetryInfo)]
struct Failed(Option<Rc<()>>);

#[retryable(strategy = "patient")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {
    fn assert_send(_: impl Send) {}
    assert_send(get());
}

// Rule M5.
