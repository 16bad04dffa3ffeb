//! The error numbers of `MySQL` and `MariaDB`.

use crate::classify::verdict;
use retry_clients::codes::mysql;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

// Rule E32.
#[test]
fn every_number_is_classified_as_in_its_row() {
    let rows: [(&[u16], Classification); 6] = [
        (&[1213, 3572, 1020, 3101, 1614, 8002, 8005, 8022, 8028, 9007], verdict(Yes, "conflict", Other)),
        (&[1040, 1203, 1836, 4031, 2002, 2003], verdict(Yes, "", Server)),
        (
            &[1053, 1077, 1079, 1927, 3032, 3169, 2006, 2013, 2055, 9001, 9002, 9003, 9004, 9005],
            verdict(Maybe, "", Server),
        ),
        (&[3024, 1969, 1317], verdict(No, "", Other)),
        (&[1205], verdict(No, "conflict", Other).with_timeout()),
        (
            &[1290, 1226, 1047, 1129, 1792, 1062, 1045, 1064, 1146, 1180, 1364, 1412, 0, 1, 9000, 9006, u16::MAX],
            verdict(No, "", Client),
        ),
    ];
    for (numbers, expected) in rows {
        for number in numbers {
            assert_eq!(mysql(*number, "HY000", "a message"), expected, "{number}");
        }
    }
}

// Rule E32.
#[test]
fn where_a_number_has_several_meanings_the_message_decides() {
    let (done, wrong) = (verdict(Yes, "", Server), verdict(No, "", Client));
    let unknown = verdict(Maybe, "", Server);
    let server = "The MariaDB server is running with the";
    let rows = [
        (1290, format!("{server} --read-only option so it cannot execute this statement"), done),
        (1290, format!("{server} --super-read-only option so it cannot execute this statement"), done),
        (1290, format!("{server} --skip-grant-tables option so it cannot execute this statement"), wrong),
        (1290, format!("{server} --skip-networking option so it cannot execute this statement"), wrong),
        (1226, "User 'a' has exceeded the 'max_user_connections' resource (current value: 1)".to_owned(), done),
        (1226, "User 'a' has exceeded the 'max_updates_per_hour' resource (current value: 1)".to_owned(), wrong),
        (1047, "WSREP has not yet prepared node for application use".to_owned(), done),
        (1047, "Unknown command".to_owned(), wrong),
        (2003, "Can't connect to MySQL server on 'db' (111)".to_owned(), done),
        (2003, "Lost connection to backend server: network error".to_owned(), unknown),
        (9001, "Max connect timeout reached while reaching hostgroup 1 after 10000ms".to_owned(), done),
        (9001, "PD server timeout".to_owned(), unknown),
    ];
    for (number, message, expected) in rows {
        assert_eq!(mysql(number, "HY000", &message), expected, "{number} {message}");
    }
}

// Rule E32.
#[test]
fn the_sqlstate_decides_only_for_an_unknown_number() {
    let rows = [
        ("40001", verdict(Yes, "conflict", Other)),
        ("08001", verdict(Yes, "", Server)),
        ("08004", verdict(Yes, "", Server)),
        ("08S01", verdict(Maybe, "", Server)),
        ("08007", verdict(Maybe, "", Server)),
        ("70100", verdict(No, "", Other)),
        ("40000", verdict(No, "", Client)),
        ("25006", verdict(No, "", Client)),
        ("23000", verdict(No, "", Client)),
        ("HY000", verdict(No, "", Client)),
        ("", verdict(No, "", Client)),
    ];
    for (state, expected) in rows {
        assert_eq!(mysql(30_000, state, ""), expected, "{state}");
        assert_eq!(mysql(1213, state, ""), verdict(Yes, "conflict", Other), "{state}");
        assert_eq!(mysql(1792, state, ""), verdict(No, "", Client), "{state}");
    }
}
