use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(transparent)]
    Io(std::io::Error),
}

fn main() {}
