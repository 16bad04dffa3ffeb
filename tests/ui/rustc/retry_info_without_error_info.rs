use retry_core::RetryInfo;

struct Failed;

impl RetryInfo for Failed {}

fn main() {}
