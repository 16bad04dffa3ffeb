use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(with = judge)]
    A(#[retry(with = judge)] u8),
    B {
        #[retry(with = judge)]
        one: u8,
        #[retry(with = judge)]
        two: u8,
    },
}

fn judge(_: &u8) -> bool {
    true
}

fn main() {}
