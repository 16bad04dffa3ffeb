//! Reads the options of `#[retryable]`.

use crate::diagnostics::{Diagnostics, choices, nearest};
use crate::option_table::OptionTable;
use crate::options::{self, Written};
use crate::retryable::given::Given;
use crate::retryable::hedge_option::{Hedge, read_hedge};
use crate::retryable::limits::{
    Attempts, Limit, Limits, read_attempts, read_deadline, read_limit, read_stop, read_stop_when,
};
use crate::retryable::strategy::{LIMITS, OWN, OWN_TYPES, Own, is_made_here, own_names};
use crate::retryable::weight::Weighing;
use crate::tokens::source;
use proc_macro2::{Ident, TokenStream};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, ExprPath, Lit, Path, Token};

/// An option of `#[retryable]`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RetryableOption {
    Strategy,
    Policy,
    Idempotent,
    Hedge,
    Weight,
    Used,
    MaxTime,
    Deadline,
    AttemptTimeout,
    TimedOut,
    MaxAttempts,
    UnlimitedAttempts,
    Stop,
    StopWhen,
    CutOnStop,
    Name,
    Context,
    Clone,
    Observer,
    OnRetry,
    OnEnd,
    Timer,
    Blocking,
    Crate,
}

const MAX_ATTEMPTS: &str =
    "write `max_attempts`, which counts the first attempt too, and can only lower the number of the strategy";
const MAX_RETRIES: &str = "write `max_attempts` with a number that is one higher, since it counts the first attempt too. \
     It can only lower the number of the strategy";
pub(super) const NOT_TWICE: &str = "write `idempotent = false`";
const TWICE: &str = "write `idempotent`";
const BACKOFF: &str = "the strategy, as in `PatientRetryStrategy::new().backoff(base, cap)`";
const MAX_RATE: &str = "the strategy, `retry_limits::PacedRetryStrategy::new().max_rate(..)`";
const CONCURRENCY: &str =
    "the strategy, a `retry_limits::ConcurrencyRetryStrategy` with `ConcurrencyLimiter::new().max_in_flight(..)`";
const MAX_WAIT: &str = "the strategy, `PatientRetryStrategy::new().max_wait_for_service(..)`";
const ON_END: &str = "write `on_end = |report| ..`";
const LONG_POLL: &str =
    "use a strategy for long polls, `static QUEUE: LongPolling<StandardRetryStrategy> = LongPolling::over(..);`";
const STOP: &str = "write `stop = STOP`, with `static STOP: Stop = Stop::new();`";
const CANCEL: &str = "write `stop_when = token.cancelled()`, or `stop = STOP` with `static STOP: Stop = Stop::new();`";
const WEIGHT: &str = "write `weight = tokens`, and `used = |outcome| ..` if the outcome says what was used";
const WHEN: &str = "label the error type with `#[derive(RetryInfo)]`, or write a `policy`";

const OPTIONS: OptionTable<RetryableOption> = OptionTable {
    what: "`#[retryable]`",
    subject: "`#[retryable]`",
    options: &[
        ("strategy", RetryableOption::Strategy),
        ("policy", RetryableOption::Policy),
        ("idempotent", RetryableOption::Idempotent),
        ("hedge", RetryableOption::Hedge),
        ("weight", RetryableOption::Weight),
        ("used", RetryableOption::Used),
        ("max_time", RetryableOption::MaxTime),
        ("deadline", RetryableOption::Deadline),
        ("attempt_timeout", RetryableOption::AttemptTimeout),
        ("timed_out", RetryableOption::TimedOut),
        ("max_attempts", RetryableOption::MaxAttempts),
        ("unlimited_attempts", RetryableOption::UnlimitedAttempts),
        ("stop", RetryableOption::Stop),
        ("stop_when", RetryableOption::StopWhen),
        ("cut_on_stop", RetryableOption::CutOnStop),
        ("name", RetryableOption::Name),
        ("context", RetryableOption::Context),
        ("clone", RetryableOption::Clone),
        ("observer", RetryableOption::Observer),
        ("on_retry", RetryableOption::OnRetry),
        ("on_end", RetryableOption::OnEnd),
        ("timer", RetryableOption::Timer),
        ("blocking", RetryableOption::Blocking),
        ("crate", RetryableOption::Crate),
    ],
    main: Some("strategy"),
    elsewhere: &[
        ("backoff", BACKOFF),
        ("backoff_base", BACKOFF),
        ("delay", BACKOFF),
        ("base_delay", BACKOFF),
        ("initial_delay", BACKOFF),
        ("max_delay", BACKOFF),
        ("interval", BACKOFF),
        ("wait", BACKOFF),
        ("max_wait_for_service", MAX_WAIT),
        ("max_wait", MAX_WAIT),
        ("max_waiting", "the strategy, `PatientRetryStrategy::new().max_waiting(..)`"),
        (
            "max_retry_after",
            "the strategy, `StandardRetryStrategy::new().max_retry_after(..)`, or `map_standard` of a `PatientRetryStrategy`",
        ),
        ("max_rate", MAX_RATE),
        ("rate", MAX_RATE),
        ("rate_limit", MAX_RATE),
        ("burst", "the strategy, `retry_limits::PacedRetryStrategy::new().max_rate(..).burst(..)`"),
        ("rejections", "the strategy, `retry_limits::PacedRetryStrategy::new().rejections(..)`"),
        ("max_in_flight", CONCURRENCY),
        ("concurrency", CONCURRENCY),
        ("jitter", "the strategy, `StandardRetryStrategy::new().jitter(..)`"),
        ("quota", "the strategy, `StandardRetryStrategy::new().quota_capacity(..)`"),
        ("retry_after", "the error, `#[retry(retry_after = \"1s\")]`"),
        ("safe", "the error, `#[retry(safe)]`"),
        ("never", "the error, `#[retry(never)]`"),
        ("throttling", "the error, `#[retry(throttling)]`"),
        ("transparent", "the error, `#[retry(transparent)]`"),
    ],
    synonyms: &[
        ("non_idempotent", NOT_TWICE),
        ("not_idempotent", NOT_TWICE),
        ("nonidempotent", NOT_TWICE),
        ("attempts", MAX_ATTEMPTS),
        ("tries", MAX_ATTEMPTS),
        ("times", MAX_ATTEMPTS),
        ("retries", MAX_RETRIES),
        ("max_retries", MAX_RETRIES),
        ("idempotency_key", "write `context = context`, and send `context.operation_id()` as the key"),
        ("weigh", WEIGHT),
        ("weighs", WEIGHT),
        ("tokens", WEIGHT),
        ("when", WHEN),
        ("retryable", WHEN),
        ("retry_if", WHEN),
        ("retry_on", WHEN),
        ("condition", WHEN),
        ("sync", "write `blocking`"),
        ("timeout", "write `attempt_timeout` for the time limit of an attempt, or `max_time` for the whole operation"),
        ("max_elapsed_time", "write `max_time`"),
        ("max_duration", "write `max_time`"),
        ("total_timeout", "write `max_time`"),
        (
            "time_limit",
            "write `max_time` for the time limit of the whole operation, or `attempt_timeout` for an attempt",
        ),
        ("long_poll", LONG_POLL),
        ("long_polling", LONG_POLL),
        ("forever", "write `unlimited_attempts`"),
        ("retry_forever", "write `unlimited_attempts`"),
        ("unlimited", "write `unlimited_attempts`"),
        ("cancel", CANCEL),
        ("cancellation", CANCEL),
        ("cancellation_token", CANCEL),
        ("until", CANCEL),
        ("shutdown", STOP),
        ("abort", STOP),
        ("notify", "write `on_retry`"),
        ("on_stop", ON_END),
        ("on_finish", ON_END),
        ("report", ON_END),
        ("sleep", "write `timer`"),
        ("sleeper", "write `timer`"),
        ("clock", "write `timer`"),
    ],
    negated: &[
        ("idempotent", NOT_TWICE),
        ("non_idempotent", TWICE),
        ("not_idempotent", TWICE),
        ("nonidempotent", TWICE),
    ],
};

/// The options of the attribute.
#[derive(Default)]
pub(super) struct Options {
    pub(super) strategy: Option<Strategy>,
    /// The policy, or the value of a misspelled `policy`, which was reported already.
    pub(super) policy: Option<Expr>,
    pub(super) idempotent: Option<bool>,
    pub(super) hedge: Option<Hedge>,
    pub(super) weighing: Weighing,
    pub(super) limits: Limits,
    pub(super) name: Option<Expr>,
    pub(super) context: Option<Ident>,
    pub(super) clone: Vec<Ident>,
    pub(super) observer: Option<Expr>,
    pub(super) on_retry: Option<Expr>,
    pub(super) on_end: Option<Expr>,
    pub(super) timer: Option<Expr>,
    pub(super) crate_path: Option<Path>,
    pub(super) given: Given,
}

impl Options {
    /// Returns the expressions in the options.
    pub(super) fn expressions(&mut self) -> Vec<&mut Expr> {
        let Self {
            strategy,
            policy,
            idempotent: _,
            hedge: _,
            weighing: Weighing { weight, used },
            limits:
                Limits {
                    max_time,
                    deadline,
                    attempt_timeout,
                    timed_out,
                    max_attempts,
                    unlimited_attempts: _,
                    stop,
                    stop_when,
                    cut_on_stop: _,
                },
            name,
            context: _,
            clone: _,
            observer,
            on_retry,
            on_end,
            timer,
            crate_path: _,
            given: _,
        } = self;
        let strategy = strategy.iter_mut().filter_map(|strategy| match strategy {
            Strategy::Expr(expr) => Some(expr),
            Strategy::Own(_) => None,
        });
        let limits = [max_time, attempt_timeout].into_iter().flatten().filter_map(|limit| match limit {
            Limit::Expr(expr) => Some(expr),
            Limit::Constant(_) => None,
        });
        let attempts = max_attempts.iter_mut().filter_map(|attempts| match attempts {
            Attempts::Expr(expr) => Some(expr),
            Attempts::Constant(_) => None,
        });
        let others =
            [policy, weight, used, deadline, timed_out, stop, stop_when, name, observer, on_retry, on_end, timer];
        strategy.chain(limits).chain(attempts).chain(others.into_iter().flatten()).collect()
    }
}

/// The value of `strategy`.
pub(super) enum Strategy {
    /// A text. The expansion then contains a static for this function.
    Own(Own),
    Expr(Expr),
}

pub(super) fn read(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Options {
    let given = Given::of(options::read([tokens], &OPTIONS, diagnostics));
    let mut read = Options { policy: given.policy.clone(), ..Options::default() };
    for (name, option) in &given.known {
        match name {
            RetryableOption::Strategy => read.strategy = read_strategy(option, diagnostics),
            RetryableOption::Policy => read.policy = option.expr("POLICY", diagnostics),
            RetryableOption::Idempotent => read.idempotent = option.boolean(),
            RetryableOption::Hedge => read.hedge = read_hedge(option, diagnostics),
            RetryableOption::Weight => read.weighing.weight = option.expr("TOKENS", diagnostics),
            RetryableOption::Used => read.weighing.used = option.expr("|outcome| ..", diagnostics),
            RetryableOption::MaxTime => read.limits.max_time = read_limit(option, diagnostics),
            RetryableOption::Deadline => read.limits.deadline = read_deadline(option, diagnostics),
            RetryableOption::AttemptTimeout => read.limits.attempt_timeout = read_limit(option, diagnostics),
            RetryableOption::TimedOut => read.limits.timed_out = option.expr("|timed_out| ..", diagnostics),
            RetryableOption::MaxAttempts => read.limits.max_attempts = read_attempts(option, diagnostics),
            RetryableOption::UnlimitedAttempts => {
                option.flag(diagnostics);
                read.limits.unlimited_attempts = true;
            }
            RetryableOption::Stop => read.limits.stop = read_stop(option, diagnostics),
            RetryableOption::StopWhen => read.limits.stop_when = read_stop_when(option, diagnostics),
            RetryableOption::CutOnStop => {
                option.flag(diagnostics);
                read.limits.cut_on_stop = true;
            }
            RetryableOption::Name => read.name = read_given_name(option, diagnostics),
            RetryableOption::Context => read.context = Some(read_name(option, diagnostics)),
            RetryableOption::Clone => read.clone = read_names(option, diagnostics),
            RetryableOption::Observer => read.observer = option.expr("OBSERVER", diagnostics),
            RetryableOption::OnRetry => read.on_retry = option.expr("|error, event| ..", diagnostics),
            RetryableOption::OnEnd => read.on_end = option.expr("|report| ..", diagnostics),
            RetryableOption::Timer => read.timer = option.expr("TIMER", diagnostics),
            RetryableOption::Blocking => option.flag(diagnostics),
            RetryableOption::Crate => read.crate_path = option.path(diagnostics),
        }
    }
    check_idempotent(&given, diagnostics);
    if !given.gives(RetryableOption::Strategy) {
        let own = own_names().enumerate().map(|(at, name)| match at {
            0 => format!("strategy = \"{name}\""),
            _ => format!("\"{name}\""),
        });
        diagnostics.error_here(format!(
            "`#[retryable]` needs a strategy: `#[retryable(strategy = STORE)]` names a static, field or argument, \
             and {} makes one for this function alone",
            choices(own)
        ));
    }
    read.given = given;
    read
}

/// Reports an `idempotent` whose value is not `true` or `false`.
fn check_idempotent(given: &Given, diagnostics: &mut Diagnostics) {
    let Some(option) = given.written(RetryableOption::Idempotent) else { return };
    // Validation reports it beside a policy, whatever its value is.
    if option.boolean().is_some() || given.idempotent_beside_policy().is_some() {
        return;
    }
    let computed = match option.computed() {
        // A policy that exists must not be replaced.
        Some(value) if !given.gives(RetryableOption::Policy) => format!(
            "; for the value of an expression, write `policy = StandardRetryPolicy::new().idempotent({})`",
            source(value)
        ),
        _ => String::new(),
    };
    diagnostics.error(option, format!("write `{0}` or `{0} = false`{computed}", option.name));
}

/// Whether this is the name of an option.
pub(super) fn is_known(name: &Path) -> bool {
    OPTIONS.options.iter().any(|(option, _)| name.is_ident(option))
}

fn read_strategy(option: &Written, diagnostics: &mut Diagnostics) -> Option<Strategy> {
    let built_in = choices(own_names().map(|name| format!("strategy = \"{name}\"")));
    match option.value() {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
            let name = text.value();
            if own_names().any(|own| own == name) || nearest(&name, own_names()).is_some() {
                return option.word(&OWN, diagnostics).map(Strategy::Own);
            }
            let message = match limits_type(&name) {
                Some(ty) => format!(
                    "\"{name}\" is not a built-in strategy; make it a static, `static STORE: retry_limits::{ty} = \
                     retry_limits::{ty}::new();`, and write `strategy = STORE`; in quotes, write {built_in}"
                ),
                None => format!(
                    "write your own strategy without quotes: `strategy = {name}` names a static, field or argument; in \
                     quotes, write {built_in}"
                ),
            };
            diagnostics.error(text, message);
            None
        }
        Some(Expr::Path(path)) if own_names().any(|own| path.path.is_ident(own)) => {
            diagnostics.error(path, format!("a built-in strategy is written in quotes: {built_in}"));
            None
        }
        Some(Expr::Path(path)) if names_type(path) => {
            let ty = source(path);
            diagnostics.error(
                path,
                format!(
                    "`{ty}` is a type; make a static, `static STORE: {ty} = {ty}::new();`, and write `strategy = STORE`"
                ),
            );
            None
        }
        Some(expr) if is_made_here(expr) => {
            diagnostics.error(
                expr,
                "a strategy that is made here has a new, full quota in each call; make it a static, \
                 `static STORE: PatientRetryStrategy = ...;`, and write `strategy = STORE`, or remove the `&` before a \
                 call that returns a reference",
            );
            None
        }
        Some(expr) => Some(Strategy::Expr(expr.clone())),
        None => {
            diagnostics.error(option, format!("name a strategy: `strategy = STORE`, or a built-in one: {built_in}"));
            None
        }
    }
}

/// Returns whether a path names the type of a strategy of this library.
fn names_type(path: &ExprPath) -> bool {
    let mut types = OWN_TYPES.into_iter().chain(LIMITS.map(|(_, ty)| ty));
    path.path.segments.last().is_some_and(|last| last.arguments.is_none() && types.any(|ty| last.ident == ty))
}

/// Returns the strategy of the crate `retry-limits` that a name means, if it is one or nearly one.
fn limits_type(name: &str) -> Option<&'static str> {
    let meant = nearest(name, LIMITS.map(|(name, _)| name))?;
    LIMITS.iter().find(|(name, _)| *name == meant).map(|(_, ty)| *ty)
}

/// Reads the name of the operation: a text, or an expression that is evaluated in each call.
fn read_given_name(option: &Written, diagnostics: &mut Diagnostics) -> Option<Expr> {
    match option.value() {
        Some(Expr::Lit(ExprLit { lit, .. })) if !matches!(lit, Lit::Str(_)) => {
            diagnostics.error(lit, "a name is a text: `name = \"fetch\"`, or an expression that gives a text");
            None
        }
        _ => option.expr("\"fetch\"", diagnostics),
    }
}

fn read_name(option: &Written, diagnostics: &mut Diagnostics) -> Ident {
    if let Some(Expr::Path(path)) = option.value()
        && let Some(name) = path.path.get_ident().filter(|name| *name != "self")
    {
        return name.clone();
    }
    diagnostics.error(option, format!("name a variable for the body to use: `{0} = {0}`", option.name));
    // The body probably uses this name.
    option.name.clone()
}

fn read_names(option: &Written, diagnostics: &mut Diagnostics) -> Vec<Ident> {
    let names = option.list().and_then(|list| Punctuated::<Ident, Token![,]>::parse_terminated.parse2(list).ok());
    match names {
        Some(names) if !names.is_empty() => names.into_iter().collect(),
        _ => {
            let but = if option.list().is_some_and(|list| list.to_string().contains("self")) {
                "; `self` can't be one of them"
            } else {
                ""
            };
            diagnostics.error(option, format!("name the arguments that each attempt clones: `clone(a, b)`{but}"));
            Vec::new()
        }
    }
}
