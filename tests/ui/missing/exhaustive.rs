use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(exhaustive, fault = "server")]
enum Failure {
    #[retry(throttling)]
    SlowDown,
    NoSuchKey(String),
    OnAField(#[retry(http_status)] u16),
    r#Type {
        field: u8,
    },
}

fn main() {}

// Rule M19.
