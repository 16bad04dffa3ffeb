use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(with = judge)]
    A(u8),
    B(#[retry(with = judge_two)] u8, u8),
    C(#[retry(with = no_fn_of_this_name)] u8),
    D(#[retry(with = owned)] String),
}

fn judge(_: &str) -> bool {
    true
}

fn judge_two(_: &u8, _: &u8) -> bool {
    true
}

fn owned(_: String) -> bool {
    true
}

fn main() {}
