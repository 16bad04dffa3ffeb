use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry]
enum Failure {
    #[retry()]
    A(#[retry = "retry_after"] std::time::Duration),
}

fn main() {}
