use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    #[retry(transparent, fault = "client", throttling, conflict, http_status = 429, with = judge)]
    A(Inner),
    #[retry(transparent)]
    B {
        source: Inner,
        #[retry(retry_after)]
        wait: std::time::Duration,
        #[retry(http_status, error_code)]
        status: u16,
        #[retry(safe)]
        safe: bool,
    },
    C(#[retry(transparent, source)] Inner, #[retry(with = judge)] u8),
}

fn judge(_: &u8) -> bool {
    true
}

fn main() {}
