//! Checks that `Knowledge` is all that a member knows: a member that was put together from it behaves as the member that lived through the calls.

use crate::millis::at;
use crate::process::Knowledge;
use retry_fleet::Member;
use retry_fleet::protocol::{Call, Reply, Turn};
use std::time::Duration;

/// The number of events in a sequence.
const LENGTH: u32 = 5;
const EVENTS: u32 = 7;

/// What is not a number of the calls: the model names epochs itself.
fn comparable(mut call: Call) -> Call {
    call.fresh.clear();
    call
}

fn reply(event: u32, number: u64) -> Option<Reply> {
    let (epoch, members, turn) = match event {
        0 => ("1", 3, None),
        1 => ("2", 1, Some((5_000, "ada: down"))),
        2 => ("1", 10_000, Some((0, ""))),
        _ => return None,
    };
    let mut reply = Reply::new(epoch, members);
    reply.turn = turn.map(|(off_for, reason)| Turn {
        number,
        off_for: Duration::from_millis(off_for),
        reason: reason.to_owned(),
    });
    Some(reply)
}

#[test]
fn a_member_that_was_put_together_behaves_as_the_one_that_lived() {
    for sequence in 0..EVENTS.pow(LENGTH) {
        let (mut now, mut number) = (1_000, 0);
        let mut lived = Member::new("orders", "a", at(now));
        let mut knows = Knowledge::new(now);
        for step in 0..LENGTH {
            let event = sequence / EVENTS.pow(step) % EVENTS;
            if let 4 | 5 = event {
                now += [1_000, 4_000][usize::from(event == 5)];
                continue;
            }
            let mut made = knows.member("a");
            assert_eq!(made.status(), lived.status(), "{sequence}, {step}");
            assert_eq!(made.switched_off(at(now)), lived.switched_off(at(now)), "{sequence}, {step}");
            if event == 6 {
                lived.turn_retries_off(Duration::from_secs(1), "a: b", at(now));
                made.turn_retries_off(Duration::from_secs(1), "a: b", at(now));
            }
            let call = comparable(lived.call(at(now), false));
            assert_eq!(comparable(made.call(at(now), false)), call, "{sequence}, {step}");
            number += 1;
            if let Some(reply) = reply(event, number) {
                lived.answered(at(now), &reply);
                knows = Knowledge::answered(made, now, &reply);
            } else {
                lived.unanswered(at(now), &"no answer");
                knows = knows.unanswered(made, now);
            }
        }
        assert_eq!(knows.member("a").status(), lived.status(), "{sequence}");
    }
}
