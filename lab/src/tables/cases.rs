//! Where this library may do worse than something else.

/// A case: a strategy of this library, and others to compare it with. Both are the keys of rows of a table.
pub(super) struct Case {
    /// Whether the results are those beside other crates.
    pub(super) is_beside_peers: bool,
    pub(super) scenario: &'static str,
    pub(super) table: &'static str,
    /// What is compared.
    pub(super) what: &'static str,
    pub(super) measure: &'static str,
    /// What the measure is multiplied by, and the number of decimals.
    pub(super) shown: (f64, usize),
    /// The name of the measure.
    pub(super) unit: &'static str,
    pub(super) is_less_better: bool,
    pub(super) own: &'static [&'static str],
    pub(super) others: &'static [&'static [&'static str]],
    /// Why something else is better.
    pub(super) why: &'static str,
}

const COPY: Case = Case {
    is_beside_peers: true,
    scenario: "copy",
    table: "copy",
    what: "",
    measure: "failed operations",
    shown: (1.0, 0),
    unit: "failed operations",
    is_less_better: true,
    own: &[],
    others: &[],
    why: "",
};

/// What cases about services in a row share.
const LAYERS: Case = Case {
    scenario: "layers",
    table: "layers",
    what: "services in a row",
    measure: "highest load, 1/s",
    unit: "requests in the worst second",
    ..COPY
};

const COPIES: Case = Case {
    is_beside_peers: false,
    scenario: "changing",
    table: "copies",
    measure: "time, s",
    shown: (1.0, 2),
    unit: "seconds",
    ..COPY
};

const MANY: Case = Case { scenario: "many", table: "many", ..COPIES };

/// Jain's index, by which a higher value is better.
const FAIRNESS: Case =
    Case { measure: "fairness", shown: (1.0, 3), unit: "Jain's index", is_less_better: false, ..MANY };

/// The cases, in the order of the table.
pub(super) const CASES: &[Case] = &[
    Case {
        scenario: "partial",
        table: "partial",
        what: "a partial outage of 20 %",
        measure: "successes, %",
        shown: (1.0, 1),
        unit: "successes, %",
        is_less_better: false,
        own: &["new()", "20"],
        others: &[&["aws-smithy-runtime, standard", "20"], &["tower", "20"], &["backon", "20"]],
        why: "A success gives back 1, whatever the retry cost, so the quota drains at 16.7 %. The load stays below 1.2 instead of 1.4.",
        ..COPY
    },
    Case {
        what: "a bulk copy by 64 workers",
        own: &["new()", "64"],
        others: &[&["aws-smithy-runtime, standard", "64"], &["backon", "64"], &["tokio-retry2", "64"]],
        why: "The rejections of the first second empty the quota. In aws-smithy-runtime, each success of a client gives back the \
              last payment of any of its operations. backon and tokio-retry2 have no quota.",
        ..COPY
    },
    Case {
        what: "a bulk copy by 64 workers",
        own: &["patient", "64"],
        others: &[&["backon", "64"], &["tokio-retry2", "64"], &["adaptive", "64"], &["paced", "64"]],
        why: "It limits retries, and not first attempts. Its quota pays for most retries, and the delays of the others are longer.",
        ..COPY
    },
    Case {
        what: "a bulk copy by 64 workers",
        own: &["new(), no quota", "64"],
        others: &[&["backon", "64"], &["tokio-retry2", "64"]],
        why: "The delays of the others are at least half of 1 s, 2 s and 4 s, and full jitter makes less (B1).",
        ..COPY
    },
    Case {
        what: "a bulk copy by 16 workers",
        own: &["new()", "16"],
        others: &[&["aws-smithy-runtime, standard", "16"], &["backon", "16"], &["tokio-retry2", "16"]],
        why: "The same.",
        ..COPY
    },
    Case {
        what: "a bulk copy by 16 workers",
        measure: "time / ideal",
        shown: (1.0, 2),
        unit: "time / ideal",
        own: &["adaptive", "16"],
        others: &[&["aws-smithy-runtime, standard", "16"], &["backon", "16"], &["paced", "16"]],
        why: "The arithmetic of AWS cuts the rate after a rejection and grows it slowly (A6).",
        ..COPY
    },
    Case {
        what: "a bulk copy by 256 workers",
        own: &["adaptive", "256"],
        others: &[&["aws-smithy-runtime, adaptive", "256"], &["paced", "256"]],
        why: "All workers get rejections before the limiter begins (A1), and the quota pays for 100 retries.",
        ..COPY
    },
    Case {
        own: &["quota"],
        others: &[&["aws-smithy-runtime, standard"]],
        why: "A full quota pays for 100 retries after a failure, theirs for 50 after a status of 500.",
        ..LAYERS
    },
    Case {
        own: &["patient"],
        others: &[&["quota"], &["tower"], &["aws-smithy-runtime, standard"]],
        why: "After the outage, the calls that wait in each service are sent as fast as the last service answers, which has no limit \
              here.",
        ..LAYERS
    },
    Case {
        own: &["no quota"],
        others: &[&["backon"], &["tokio-retry2"]],
        why: "The delays of the others are longer, as above.",
        ..LAYERS
    },
    Case {
        is_beside_peers: false,
        scenario: "outage",
        table: "outage",
        what: "an outage at a load of 80 %, 1,000 separate quotas",
        measure: "recovery, s",
        unit: "seconds to the recovery",
        own: &["0.8", "new()", "1000"],
        others: &[&["0.8", "no retries", "1"], &["0.8", "new()", "1"]],
        why: "Each quota has the capacity for a whole program. [Divide the capacity](../../docs/choosing.md#which-quota).",
        ..COPY
    },
    Case {
        is_beside_peers: false,
        scenario: "contention",
        table: "contention",
        what: "contention of 100 clients",
        measure: "failed clients",
        unit: "failed clients",
        own: &["new(), as shipped", "100"],
        others: &[&["full jitter", "100"]],
        why: "Five attempts are few for so many clients. The other row has no limit on attempts.",
        ..COPY
    },
    Case {
        table: "limit",
        what: "a limit that rises from 40 to 160",
        measure: "limit used, %",
        shown: (1.0, 0),
        unit: "limit used, %",
        is_less_better: false,
        own: &["adaptive", "120", "160"],
        others: &[&["paced", "120", "160"], &["new(), no quota", "120", "160"]],
        why: "The arithmetic of AWS cuts the rate after a rejection and grows it slowly (A6).",
        ..COPIES
    },
    Case {
        what: "4,003 operations against 3,500/s, 256 workers",
        own: &["token bucket", "4003", "paced", "256"],
        others: &[&["token bucket", "4003", "new(), no quota", "256"], &["token bucket", "4003", "adaptive", "256"]],
        why: "The ramp begins at 100 requests per second (L1).",
        ..COPIES
    },
    Case {
        what: "40,030 operations against 3,500/s, 256 workers",
        own: &["token bucket", "40030", "adaptive", "256"],
        others: &[&["token bucket", "40030", "paced", "256"]],
        why: "The arithmetic of AWS (A6).",
        ..COPIES
    },
    Case {
        what: "40,030 operations against 3,500/s, 256 workers",
        measure: "failed operations",
        shown: (1.0, 0),
        unit: "failed operations of three attempts",
        own: &["token bucket", "40030", "paced", "256"],
        others: &[
            &["token bucket", "40030", "new(), no quota", "256"],
            &["token bucket", "40030", "adaptive", "256"],
            &["token bucket", "40030", "paced, as shipped", "256"],
        ],
        why: "A rejected attempt is repeated without backoff. As shipped, it is counted separately (L7).",
        ..COPIES
    },
    Case {
        what: "the same with a limit for each whole second",
        own: &["fixed window", "40030", "paced", "256"],
        others: &[&["fixed window", "40030", "new(), no quota", "256"]],
        why: "The ramp (L1), and the cuts after each second that was used up (L3). The other one loses operations.",
        ..COPIES
    },
    Case {
        what: "the same with a round trip of 200 ms",
        own: &["round trip 200 ms", "40030", "paced", "256"],
        others: &[&["round trip 200 ms", "40030", "new(), no quota", "256"]],
        why: "The ramp (L1).",
        ..COPIES
    },
    Case {
        what: "100 clients on 500/s",
        own: &["paced", "500"],
        others: &[&["paced, reports", "500"], &["adaptive", "500"], &["new()", "500"]],
        why: "No client knows of the others. With `new()`, nearly all requests are rejected.",
        ..FAIRNESS
    },
    Case {
        what: "100 clients on 100/s",
        measure: "rejected share",
        shown: (100.0, 1),
        unit: "rejected requests, %",
        own: &["paced", "100"],
        others: &[&["paced, reports", "100"]],
        why: "At one request per second for each client, a rejection says little.",
        ..MANY
    },
    Case {
        what: "100 clients on 2,000/s that read reports",
        own: &["paced, reports", "2000"],
        others: &[&["paced", "2000"], &["adaptive", "2000"]],
        why: "No client knows of the others.",
        ..FAIRNESS
    },
];
