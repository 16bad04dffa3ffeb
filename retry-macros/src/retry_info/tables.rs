//! The options of enums, structs, variants and fields, and the messages for misplaced options.

use crate::option_table::OptionTable;

/// An option of an enum, a struct or a variant.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum CaseOption {
    Throttling,
    Timeout,
    Conflict,
    Safe,
    Never,
    Fault,
    RetryAfter,
    HttpStatus,
    With,
    Transparent,
    Exhaustive,
    Crate,
}

/// An option of a field.
#[derive(Clone, Copy)]
pub(super) enum FieldOption {
    RetryAfter,
    HttpStatus,
    ErrorCode,
    Safe,
    With,
    Source,
    Transparent,
}

const NEVER: &str = "write `never` for an error that must not be retried";

/// Advice for words with `= false`.
const NEGATED: &[(&str, &str)] = &[
    ("retryable", NEVER),
    ("retriable", NEVER),
    ("retry", NEVER),
    ("transient", NEVER),
    ("permanent", SAFE),
    ("fatal", SAFE),
    ("terminal", SAFE),
    ("unsafe", SAFE),
    ("not_retryable", SAFE),
    ("non_retryable", SAFE),
    ("no_retry", SAFE),
];

const MAX_RETRIES: &str = "write `max_attempts`, which counts the first attempt too";
const SAFE: &str = "write `safe` for an error that may be retried";

const SYNONYMS: &[(&str, &str)] = &[
    ("retryable", SAFE),
    ("retriable", SAFE),
    ("retry", "write `safe` for an error that may be retried, or `never` for one that must not"),
    ("unsafe", NEVER),
    ("not_safe", NEVER),
    ("not_retryable", NEVER),
    ("non_retryable", NEVER),
    ("nonretryable", NEVER),
    ("unretryable", NEVER),
    ("not_retriable", NEVER),
    ("non_retriable", NEVER),
    ("no_retry", NEVER),
    ("dont_retry", NEVER),
    ("never_retry", NEVER),
    ("terminal", NEVER),
    ("final", NEVER),
    ("transient", "write `safe`, or `fault = \"server\"` if it depends on the operation"),
    ("temporary", "write `safe`, or `fault = \"server\"` if it depends on the operation"),
    ("connection", "write `safe` if nothing was sent, or `fault = \"server\"` otherwise"),
    ("permanent", NEVER),
    ("server", "write `fault = \"server\"`"),
    ("server_error", "write `fault = \"server\"`"),
    ("unavailable", "write `fault = \"server\"`"),
    ("client", "write `fault = \"client\"`"),
    ("client_error", "write `fault = \"client\"`"),
    ("fatal", NEVER),
    ("skip", NEVER),
    ("no", "write `never`"),
    ("yes", "write `safe`"),
    ("maybe", "write `safe = \"maybe\"`"),
    ("rate_limited", "write `throttling`"),
    ("throttled", "write `throttling`"),
    ("rate_limit", "write `throttling`"),
    ("throttle", "write `throttling`"),
    ("too_many_requests", "write `throttling`"),
    ("overloaded", "write `throttling`"),
    ("busy", "write `throttling`"),
    ("timed_out", "write `timeout`"),
    ("wait", "write `retry_after`"),
    ("after", "write `retry_after`"),
    ("delay", "write `retry_after`"),
    ("backoff", "write `retry_after` for a wait that the server asked for"),
    ("attempts", "write `max_attempts`"),
    ("retries", MAX_RETRIES),
    ("max_retries", MAX_RETRIES),
    ("conflicted", "write `conflict`"),
    ("serialization", "write `conflict` for a transaction that lost a race"),
    ("aborted", "write `conflict` for a transaction that lost a race"),
    ("optimistic_lock", "write `conflict` for a write that lost a race"),
    ("inherit", "write `transparent`"),
    ("forward", "write `transparent`"),
    ("delegate", "write `transparent`"),
    ("cause", "write `source`"),
    ("status", "write `http_status`"),
    ("status_code", "write `http_status`"),
    ("code", "write `error_code`"),
];

const CONSTANT: &str = "a variant, a struct or an enum";
const FUNCTION: (&str, &str) = ("idempotent", "the function, `#[retryable(idempotent)]`");
const NOT_TWICE: (&str, &str) = ("non_idempotent", "the function, `#[retryable(idempotent = false)]`");
const ATTEMPTS: (&str, &str) = ("max_attempts", "the function, `#[retryable(max_attempts = 3)]`");

pub(super) const ON_ENUM: OptionTable<CaseOption> = OptionTable {
    what: "an enum",
    subject: "An enum",
    options: &[
        ("throttling", CaseOption::Throttling),
        ("timeout", CaseOption::Timeout),
        ("conflict", CaseOption::Conflict),
        ("safe", CaseOption::Safe),
        ("never", CaseOption::Never),
        ("fault", CaseOption::Fault),
        ("retry_after", CaseOption::RetryAfter),
        ("http_status", CaseOption::HttpStatus),
        ("exhaustive", CaseOption::Exhaustive),
        ("crate", CaseOption::Crate),
    ],
    main: None,
    elsewhere: &[
        ("transparent", "a variant or its field"),
        ("with", "a variant or its field"),
        ("error_code", "the field that holds it"),
        ("source", "a field"),
        FUNCTION,
        NOT_TWICE,
        ATTEMPTS,
    ],
    synonyms: SYNONYMS,
    negated: NEGATED,
};

pub(super) const ON_STRUCT: OptionTable<CaseOption> = OptionTable {
    what: "a struct",
    subject: "A struct",
    options: &[
        ("throttling", CaseOption::Throttling),
        ("timeout", CaseOption::Timeout),
        ("conflict", CaseOption::Conflict),
        ("safe", CaseOption::Safe),
        ("never", CaseOption::Never),
        ("fault", CaseOption::Fault),
        ("retry_after", CaseOption::RetryAfter),
        ("http_status", CaseOption::HttpStatus),
        ("with", CaseOption::With),
        ("transparent", CaseOption::Transparent),
        ("crate", CaseOption::Crate),
    ],
    main: None,
    elsewhere: &[
        ("error_code", "the field that holds it"),
        ("source", "a field"),
        ("exhaustive", "an enum"),
        FUNCTION,
        NOT_TWICE,
        ATTEMPTS,
    ],
    synonyms: SYNONYMS,
    negated: NEGATED,
};

pub(super) const ON_VARIANT: OptionTable<CaseOption> = OptionTable {
    what: "a variant",
    subject: "A variant",
    options: &[
        ("throttling", CaseOption::Throttling),
        ("timeout", CaseOption::Timeout),
        ("conflict", CaseOption::Conflict),
        ("safe", CaseOption::Safe),
        ("never", CaseOption::Never),
        ("fault", CaseOption::Fault),
        ("retry_after", CaseOption::RetryAfter),
        ("http_status", CaseOption::HttpStatus),
        ("with", CaseOption::With),
        ("transparent", CaseOption::Transparent),
    ],
    main: None,
    elsewhere: &[
        ("error_code", "the field that holds it"),
        ("source", "a field"),
        FUNCTION,
        NOT_TWICE,
        ATTEMPTS,
        ("exhaustive", "the enum"),
        ("crate", "the enum"),
    ],
    synonyms: SYNONYMS,
    negated: NEGATED,
};

pub(super) const ON_FIELD: OptionTable<FieldOption> = OptionTable {
    what: "a field",
    subject: "A field",
    options: &[
        ("retry_after", FieldOption::RetryAfter),
        ("http_status", FieldOption::HttpStatus),
        ("error_code", FieldOption::ErrorCode),
        ("safe", FieldOption::Safe),
        ("with", FieldOption::With),
        ("source", FieldOption::Source),
        ("transparent", FieldOption::Transparent),
    ],
    main: None,
    elsewhere: &[
        ("throttling", CONSTANT),
        ("timeout", CONSTANT),
        ("conflict", CONSTANT),
        ("never", CONSTANT),
        ("fault", CONSTANT),
        ("exhaustive", "the enum"),
        ("crate", "the enum or struct"),
        FUNCTION,
        NOT_TWICE,
        ATTEMPTS,
    ],
    synonyms: SYNONYMS,
    negated: NEGATED,
};
