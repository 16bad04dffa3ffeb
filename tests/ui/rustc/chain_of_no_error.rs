use retry_core::RetryInfo;
use retry_core::classify::chain;
use std::error::Error;
use std::rc::Rc;

#[derive(RetryInfo)]
enum Failure {
    Shared(#[retry(with = chain::known)] Rc<dyn Error>),
    Text(#[retry(with = chain::known)] String),
}

fn main() {}
