use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(never, safe)]
enum Failure {
    #[retry(safer)]
    A,
    #[retry(transparent, timeout)]
    B,
    C(#[retry(retry_after)] u8),
}

// The impls exist all the same, so nothing is reported here.
fn is_one<E: RetryInfo>(_: E) {}

fn use_it(failure: Failure) {
    is_one(failure)
}

fn main() {}

// Rule M12.
