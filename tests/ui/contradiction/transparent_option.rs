use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(throttling)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    #[retry(transparent)]
    Plain(Option<Inner>),
    #[retry(transparent)]
    Named { at: u32, source: std::option::Option<Box<Inner>> },
    Marked(u32, #[retry(transparent)] Option<Inner>),
    Source(#[retry(source)] Option<Inner>),
}

#[derive(RetryInfo)]
#[retry(transparent)]
struct Wrapper(Option<Inner>);

fn main() {}
