//! The contents of the store, and contents that another program wrote.

use crate::connection::{HASH, call, whole_call};
use crate::server::{PATIENCE, RedisServer};
use redis::Commands;
use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use retry_fleet::protocol::{Call, Knowledge, LimitCall, Turn};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Member, Store};
use retry_limits::PacedRetryStrategy;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

// Rule F13.
#[tokio::test]
async fn another_type_under_the_key_is_an_error_that_names_the_key() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    for command in ["SET", "SADD"] {
        let mut other = redis::cmd(command);
        let _: () = other.arg(HASH).arg("text").query(&mut direct).unwrap();
        let error = call(&mut store).await.unwrap_err().to_string();
        assert!(error.contains(r#"the key "retry-fleet:1:{orders}""#) && error.contains("expected a hash"), "{error}");
        let _: () = direct.del(HASH).unwrap();
        call(&mut store).await.unwrap();
        let _: () = direct.del(HASH).unwrap();
    }
    // Any type under the key of the switch means off.
    let _: () = direct.lpush("retry-fleet:{orders}:switch", "text").unwrap();
    assert!(!call(&mut store).await.unwrap().retries_enabled());
    let mut turn = whole_call();
    turn.turn = Some(Turn::default());
    assert!(store.call("orders", &turn).await.unwrap().retries_enabled());
}

// Rule F33.
#[tokio::test]
async fn versions_of_the_protocol_do_not_touch_each_others_state() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let others = ["retry-fleet:{orders}", "retry-fleet:0:{orders}", "retry-fleet:2:{orders}"];
    let fields = [("epoch", "another"), ("now", "1"), ("m:other", "an entry of another form")];
    for key in others {
        direct.hset_multiple::<_, _, _, ()>(key, &fields).unwrap();
    }
    for _ in 0..20 {
        assert_eq!(call(&mut store).await.unwrap().members, 1);
    }
    for key in others {
        let left: std::collections::BTreeMap<String, String> = direct.hgetall(key).unwrap();
        assert_eq!(left, fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into(), "{key}");
    }
}

// Rule F28.
#[tokio::test]
async fn numbers_that_are_too_large_or_do_not_fit_are_repaired_within_a_minute() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let fields = [
        "now",
        "clock",
        "version",
        "offered_until",
        "stepped",
        "counted",
        "cut",
        "waiting",
        "satisfied",
        "capacity",
        "missing",
    ];
    let mut failures = Vec::new();
    for field in fields.into_iter().chain(["timed_out", "members"]) {
        for value in ["1000000000000", "4000000000000000", "4294967295"] {
            let _: () = redis::cmd("FLUSHALL").query(&mut direct).unwrap();
            let mut members = ["p1", "p2"].map(|name| {
                let member = Member::new("orders", name, Timestamp::START);
                member.quota(Arc::new(EvidenceQuota::new())).limit(Arc::new(PacedRetryStrategy::new()))
            });
            let mut version = 0;
            for second in 0..70 {
                let _: () = direct.hincr(HASH, "now", 1_000).unwrap();
                if second == 9 {
                    let _: () = direct.hset(HASH, field, value).unwrap();
                }
                if second == 60 {
                    version = direct.hget(HASH, "version").unwrap();
                }
                for member in &mut members {
                    let now = Timestamp::START.saturating_add(Duration::from_secs(second));
                    // A step is posted by a second call.
                    for _ in 0..2 {
                        let call = member.call(now, false);
                        member.answered(now, &store.call("orders", &call).await.unwrap());
                    }
                }
            }
            let names = ["members", "missing", "capacity", "waiting", "satisfied", "cut"];
            let numbers: Vec<u64> = direct.hmget(HASH, &names).unwrap();
            let (now, clock, steps, timed_out): (u64, u64, u64, u64) =
                direct.hmget(HASH, &["now", "clock", "version", "timed_out"]).unwrap();
            let status = members.each_ref().map(Member::status);
            let is_good = numbers == [2, 0, 0, 0, 0, 0]
                && now < 10 * clock
                && timed_out <= now
                && steps.wrapping_sub(version) == 10
                && status.iter().all(|status| status.share == Some(50.0));
            if !is_good {
                failures.push(format!("{field} = {value}: {numbers:?}, {now}, {version} to {steps}, {status:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

// Rules F11, F28.
#[tokio::test]
async fn fields_that_are_not_numbers_are_treated_as_missing() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let first = call(&mut store).await.unwrap();
    let fields: Vec<String> = direct.hkeys(HASH).unwrap();
    assert!(fields.len() > 10);
    for text in ["text", "", "inf", "-inf", "nan", "1e300", "0x10", "-5", "7.5", "1 2 3", "1 2 3 4 5 6 7"] {
        for field in fields.iter().filter(|field| *field != "epoch") {
            let _: () = direct.hset(HASH, field, text).unwrap();
            let outcome = call(&mut store).await;
            assert!(outcome.is_ok(), "{field} = {text:?}: {outcome:?}");
        }
    }
    assert_eq!(call(&mut store).await.unwrap().epoch, first.epoch);

    // Without an epoch, nothing is left of the state.
    let _: () = direct.hset(HASH, "m:other", "1 2 3 4 5 6 7 8").unwrap();
    let _: () = direct.hdel(HASH, "epoch").unwrap();
    assert_eq!(call(&mut store).await.unwrap().members, 1);
    let other: Option<String> = direct.hget(HASH, "m:other").unwrap();
    assert_eq!(other, None);
}

// Rules F28, F48.
#[tokio::test]
async fn programs_that_another_program_has_written_are_replaced() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let minute = 60_000;
    for text in ["carts", "1 carts", "99999999999999999999 carts", "9007199254740991 carts", " carts", "-1 carts"] {
        for field in ["program", "second_program"] {
            let _: () = direct.hset(HASH, field, text).unwrap();
        }
        assert_eq!(call(&mut store).await.unwrap().other_program, None, "{text}");
        let (now, program): (u64, String) = direct.hmget(HASH, &["now", "program"]).unwrap();
        assert_eq!(program, format!("{} shop", now + minute), "{text}");
        assert_eq!(store.state("orders").await.unwrap().unwrap().programs[0], "shop");
    }
}

// Rules F11, F28.
#[tokio::test]
async fn sums_and_entries_that_another_program_has_overwritten_are_repaired_within_a_minute() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let process = |member: &str, missing, demand| {
        let mut call = Call::new(member, "fresh");
        call.ttl = Duration::from_secs(86400);
        call.quota = Some(Knowledge { missing, capacity: 1_000, timeout_age: None });
        call.limit = Some(LimitCall { demand, ..LimitCall::default() });
        call
    };
    let calls = [process("p1", 100, None), process("p2", -700, Some(7_000)), process("p3", 300, Some(5))];
    let mut sums = async |server: &mut redis::Connection| {
        for call in &calls {
            timeout(PATIENCE, store.call("orders", call)).await.unwrap().unwrap();
        }
        server.hmget::<_, _, Vec<String>>(HASH, &["members", "missing", "capacity", "satisfied", "waiting"]).unwrap()
    };
    let right = ["3", "-300", "3000", "7005", "1"];
    assert_eq!(sums(&mut direct).await, right);
    let entry: String = direct.hget(HASH, "m:p2").unwrap();
    let damages = [
        vec![("m:p1", "garbage"), ("m:p2", "1 2 3")],
        vec![("m:p3", "")],
        // An entry that no process wrote.
        vec![("m:p4", "1 2 3 4 5")],
        vec![("m:p4", entry.as_str())],
        vec![("missing", "7")],
        vec![("missing", "900"), ("capacity", "1"), ("members", "9000"), ("satisfied", "1"), ("waiting", "500")],
        vec![
            ("missing", "garbage"),
            ("capacity", "garbage"),
            ("members", "garbage"),
            ("satisfied", "garbage"),
            ("waiting", "garbage"),
        ],
        vec![("missing", "-900"), ("counted", "garbage")],
        vec![("missing", "-900"), ("counted", "9007199254740992")],
    ];
    for damage in damages {
        direct.hset_multiple::<_, _, _, ()>(HASH, &damage).unwrap();
        for _ in 0..2 {
            sums(&mut direct).await;
            direct.hincr::<_, _, _, ()>(HASH, "now", 30_000).unwrap();
        }
        assert_eq!(sums(&mut direct).await, right, "{damage:?}");
    }
    // An operator deletes entries.
    direct.hdel::<_, _, ()>(HASH, &["m:p1", "m:p3"]).unwrap();
    for _ in 0..2 {
        sums(&mut direct).await;
        direct.hincr::<_, _, _, ()>(HASH, "now", 30_000).unwrap();
    }
    assert_eq!(sums(&mut direct).await, right);
}

#[tokio::test]
async fn a_store_without_memory_does_not_begin_a_state_that_it_would_lose_again() {
    let server = RedisServer::start(&["--maxmemory", "1", "--maxmemory-policy", "allkeys-random"]);
    let mut store = RedisStore::from(server.client());
    for _ in 0..3 {
        let error = call(&mut store).await.unwrap_err().to_string();
        assert!(error.contains("OOM"), "{error}");
    }
}
