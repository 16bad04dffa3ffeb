use retry_core::RetryInfo;

struct Inner;

#[derive(RetryInfo)]
enum Failure<E> {
    A(#[retry(source)] Inner),
    B(#[retry(source)] Box<E>),
}

fn is_one(error: Failure<Inner>) -> bool {
    error.is_throttle()
}

fn main() {}
