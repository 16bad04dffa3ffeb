use lab::call::CallError;
use lab::scenario::faults::{Fault, Server, Spell};
use retry_core::time::Timestamp;
use std::time::Duration;

/// Returns the milliseconds until the response to a request at this time, of a server of ten requests in a second, or `None` if
/// it fails.
fn respond(server: &Server, at_ms: u64) -> Option<u128> {
    let now = Timestamp::START.saturating_add(Duration::from_millis(at_ms));
    let (at, response) = server.respond(now);
    assert!(response.is_ok() || response == Err(CallError::Failed));
    response.ok().map(|()| (at.saturating_since(now) + Duration::from_nanos(500)).as_millis())
}

fn server(spells: &[(Fault, f64, f64)]) -> Server {
    let spells = spells.iter().map(|&(fault, from, to)| Spell { fault, from, to });
    Server::new(spells.collect(), 10.0, 0.02, 1)
}

#[test]
fn a_server_that_was_down_has_its_capacity_again() {
    let server = server(&[(Fault::Down, 1.0, 2.0)]);
    assert_eq!(respond(&server, 0), Some(120));
    assert_eq!(respond(&server, 1_500), None);
    assert_eq!([respond(&server, 2_000), respond(&server, 2_000)], [Some(120), Some(220)], "one after the other");
}

#[test]
fn faults_follow_each_other() {
    let server = server(&[(Fault::Down, 1.0, 2.0), (Fault::Slow(2.0), 2.0, 3.0), (Fault::Stall, 4.0, 5.0)]);
    assert_eq!(respond(&server, 1_000), None);
    assert_eq!([respond(&server, 2_000), respond(&server, 3_000)], [Some(220), Some(120)]);
    assert_eq!([respond(&server, 4_200), respond(&server, 4_300)], [Some(920), Some(920)]);
}

#[test]
fn a_request_that_hangs_takes_no_time_of_the_server() {
    let server = server(&[(Fault::Hang(1.0), 1.0, 2.0)]);
    assert!(respond(&server, 1_500) > Some(1_000_000));
    assert_eq!(respond(&server, 2_000), Some(120));
}
