use retry_core::RetryInfo;

mod judges {
    pub fn count(number: &u8) -> u8 {
        *number
    }
}

#[derive(RetryInfo)]
enum Failure {
    #[retry(with = judges::count)]
    A(u8),
}

fn main() {}
