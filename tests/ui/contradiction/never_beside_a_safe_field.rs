use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(never)]
    A(#[retry(safe)] bool),
    #[retry(safe = "no")]
    B {
        #[retry(safe)]
        is_safe: bool,
    },
}

fn main() {}
