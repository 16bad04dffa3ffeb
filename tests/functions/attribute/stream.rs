//! Streams of events: an operation that opens one, and an operation that reads one to its end.

use super::{Outcome, STRATEGY};
use crate::support::{Failed, Flaky, assert_send};
use retry_core::retryable;

const EVENTS: u32 = 5;

/// A service whose first streams can't be opened or break after two events.
struct Service {
    opening: Flaky,
    reading: Flaky,
}

struct Events<'a> {
    service: &'a Service,
    last_id: u32,
    sent: u32,
}

impl Service {
    fn open(&self, last_id: u32) -> Outcome<Events<'_>> {
        self.opening.call()?;
        Ok(Events { service: self, last_id, sent: 0 })
    }
}

impl Events<'_> {
    fn next(&mut self) -> Outcome<Option<u32>> {
        if self.sent == 2 {
            self.service.reading.call()?;
        }
        self.sent += 1;
        self.last_id += 1;
        Ok((self.last_id <= EVENTS).then_some(self.last_id))
    }
}

#[retryable(strategy = STRATEGY)]
async fn open(service: &Service) -> Outcome<Events<'_>> {
    service.open(0)
}

#[retryable(strategy = STRATEGY)]
async fn read(service: &Service, last_id: &mut u32, sink: &mut Vec<u32>) -> Outcome<()> {
    let mut events = service.open(*last_id)?;
    while let Some(id) = events.next()? {
        sink.push(id);
        *last_id = id;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_returns_a_stream_is_retried_until_it_opens_and_no_longer() {
    let service = Service { opening: Flaky::new(2, Failed::SAFE), reading: Flaky::new(1, Failed::SAFE) };
    let mut events = assert_send(open(&service)).await.unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!([events.next(), events.next(), events.next()], [Ok(Some(1)), Ok(Some(2)), Err(Failed::SAFE)]);
    assert_eq!(service.opening.calls(), 3);
}

// Rule M2.
#[tokio::test(start_paused = true)]
async fn an_operation_that_reads_a_stream_continues_after_the_last_event() {
    let service = Service { opening: Flaky::new(1, Failed::SAFE), reading: Flaky::new(1, Failed::SAFE) };
    let (mut last_id, mut sink) = (0, Vec::new());
    assert_send(read(&service, &mut last_id, &mut sink)).await.unwrap();
    assert_eq!((last_id, sink), (EVENTS, (1..=EVENTS).collect()));
    assert_eq!(service.opening.calls(), 3, "one failed to open, one broke, and one reached the end");
}
