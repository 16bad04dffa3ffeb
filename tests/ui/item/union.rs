use retry_core::RetryInfo;

#[derive(RetryInfo)]
union Failure {
    a: u32,
    b: f32,
}

fn main() {}
