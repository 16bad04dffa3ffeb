//! Reads the options of `#[retryable]`.

use crate::diagnostics::{Diagnostics, choices, nearest};
use crate::option_table::{OptionTable, is_false};
use crate::options::{self, Other, ReadOptions, Written};
use crate::retryable::body;
use crate::retryable::hedge_option::{Hedge, read_hedge};
use crate::retryable::limits::{Limits, read_attempts, read_deadline, read_limit, read_stop, read_stop_when};
use crate::retryable::policy_option::read_policy;
use crate::retryable::strategy::{LIMITS, OWN, OWN_TYPES, Own, is_made_here, own_names};
use crate::retryable::weight::Weighing;
use crate::tokens::source;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
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
const NOT_TWICE: &str = "write `idempotent = false`";
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
    /// `idempotent` as it is written.
    pub(super) idempotent_option: Option<Written>,
    pub(super) hedge: Option<Hedge>,
    /// `hedge` as it is written.
    pub(super) hedge_option: Option<Written>,
    pub(super) weighing: Weighing,
    pub(super) limits: Limits,
    /// `attempt_timeout` as it is written.
    pub(super) attempt_timeout_option: Option<Written>,
    /// `stop_when` as it is written.
    pub(super) stop_when_option: Option<Written>,
    /// `timed_out` as it is written.
    pub(super) timed_out_option: Option<Written>,
    /// `max_attempts` as it is written.
    pub(super) max_attempts_option: Option<Written>,
    pub(super) name: Option<Expr>,
    pub(super) context: Option<Ident>,
    pub(super) clone: Vec<Ident>,
    pub(super) observer: Option<Expr>,
    pub(super) on_retry: Option<Expr>,
    pub(super) on_end: Option<Expr>,
    pub(super) timer: Option<Expr>,
    /// `blocking` as it is written.
    pub(super) blocking: Option<Written>,
    pub(super) crate_path: Option<Path>,
    pub(super) given: Given,
}

/// Which options are given.
#[derive(Default)]
pub(super) struct Given {
    /// The options that are given, including misspelled and unreadable ones, which were reported already.
    options: Vec<RetryableOption>,
    /// The options that the errors for words of other libraries advise, each with its word. One of them may be meant.
    advised: Vec<(RetryableOption, TokenStream)>,
    /// A misspelled or foreign option that means `idempotent = false`.
    not_twice: Option<TokenStream>,
}

impl Options {
    /// Returns whether an option is given, even if it could not be read.
    pub(super) fn gives(&self, option: RetryableOption) -> bool {
        self.given.options.contains(&option)
    }

    /// Returns whether the absence of an option is a mistake: it is not given, and no error advises it.
    pub(super) fn lacks(&self, option: RetryableOption) -> bool {
        !self.gives(option) && self.advising(option).is_none()
    }

    /// Returns the word of another library in place of which an error advises this option.
    pub(super) fn advising(&self, option: RetryableOption) -> Option<&TokenStream> {
        self.given.advised.iter().find(|(advised, _)| *advised == option).map(|(_, word)| word)
    }

    /// Returns the option that says that the function must not be executed twice, even if it is misspelled.
    pub(super) fn not_twice(&self) -> Option<TokenStream> {
        let written = self.idempotent_option.as_ref().filter(|_| self.idempotent == Some(false));
        written.map(ToTokens::to_token_stream).or_else(|| self.given.not_twice.clone())
    }

    /// Returns whether `idempotent` is given beside a policy, which knows this itself. Beside `hedge`, it says that two attempts may
    /// run at the same time, which no policy knows.
    pub(super) fn contradicts_policy(&self) -> bool {
        self.gives(RetryableOption::Policy) && self.idempotent_option.is_some() && self.lacks(RetryableOption::Hedge)
    }

    /// Replaces `self` in the options, for a body in which it has another name.
    pub(super) fn renaming_self(self, receiver: &Ident) -> Self {
        let renamed = |expr: Expr| body::renamed(&expr, receiver);
        let Self {
            strategy,
            policy,
            idempotent,
            idempotent_option,
            hedge,
            hedge_option,
            weighing,
            limits,
            attempt_timeout_option,
            stop_when_option,
            timed_out_option,
            max_attempts_option,
            name,
            context,
            clone,
            observer,
            on_retry,
            on_end,
            timer,
            blocking,
            crate_path,
            given,
        } = self;
        Self {
            strategy: strategy.map(|strategy| match strategy {
                Strategy::Expr(expr) => Strategy::Expr(renamed(expr)),
                own @ Strategy::Own(_) => own,
            }),
            policy: policy.map(renamed),
            weighing: weighing.map(renamed),
            limits: limits.map(renamed),
            name: name.map(renamed),
            observer: observer.map(renamed),
            on_retry: on_retry.map(renamed),
            on_end: on_end.map(renamed),
            timer: timer.map(renamed),
            idempotent,
            idempotent_option,
            hedge,
            hedge_option,
            attempt_timeout_option,
            stop_when_option,
            timed_out_option,
            max_attempts_option,
            context,
            clone,
            blocking,
            crate_path,
            given,
        }
    }
}

/// The value of `strategy`.
pub(super) enum Strategy {
    /// A text. The expansion then contains a static for this function.
    Own(Own),
    Expr(Expr),
}

pub(super) fn read(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Options {
    let mut read = Options::default();
    let ReadOptions { known, others } = options::read([tokens], &OPTIONS, diagnostics);
    let meant = others.iter().flat_map(|other| &other.meant);
    read.given = Given {
        options: known.iter().map(|(name, _)| name).chain(meant).copied().collect(),
        advised: others.iter().flat_map(|other| other.advised.clone()).collect(),
        not_twice: others.iter().find(|other| is_not_twice(other)).map(|other| other.written.clone()),
    };
    let policy = others.iter().find(|other| other.meant.contains(&RetryableOption::Policy));
    read.policy = policy.and_then(|other| other.value.clone());
    let no_strategy = !read.gives(RetryableOption::Strategy);
    for (name, option) in known {
        match name {
            RetryableOption::Strategy => read.strategy = read_strategy(&option, diagnostics),
            RetryableOption::Policy => read.policy = read_policy(&option, diagnostics),
            RetryableOption::Idempotent => {
                read.idempotent = option.boolean();
                read.idempotent_option = Some(option);
            }
            RetryableOption::Hedge => {
                read.hedge = read_hedge(&option, diagnostics);
                read.hedge_option = Some(option);
            }
            RetryableOption::Weight => read.weighing.weight = option.expr("TOKENS", diagnostics),
            RetryableOption::Used => read.weighing.used = option.expr("|outcome| ..", diagnostics),
            RetryableOption::MaxTime => read.limits.max_time = read_limit(&option, diagnostics),
            RetryableOption::Deadline => read.limits.deadline = read_deadline(&option, diagnostics),
            RetryableOption::AttemptTimeout => {
                read.limits.attempt_timeout = read_limit(&option, diagnostics);
                read.attempt_timeout_option = Some(option);
            }
            RetryableOption::TimedOut => {
                read.limits.timed_out = option.expr("|timed_out| ..", diagnostics);
                read.timed_out_option = Some(option);
            }
            RetryableOption::MaxAttempts => {
                read.limits.max_attempts = read_attempts(&option, diagnostics);
                read.max_attempts_option = Some(option);
            }
            RetryableOption::UnlimitedAttempts => {
                option.flag(diagnostics);
                read.limits.unlimited_attempts = true;
            }
            RetryableOption::Stop => read.limits.stop = read_stop(&option, diagnostics),
            RetryableOption::StopWhen => {
                read.limits.stop_when = read_stop_when(&option, diagnostics);
                read.stop_when_option = Some(option);
            }
            RetryableOption::CutOnStop => {
                option.flag(diagnostics);
                read.limits.cut_on_stop = Some(option);
            }
            RetryableOption::Name => read.name = read_given_name(&option, diagnostics),
            RetryableOption::Context => read.context = Some(read_name(&option, diagnostics)),
            RetryableOption::Clone => read.clone = read_names(&option, diagnostics),
            RetryableOption::Observer => read.observer = option.expr("OBSERVER", diagnostics),
            RetryableOption::OnRetry => read.on_retry = option.expr("|error, event| ..", diagnostics),
            RetryableOption::OnEnd => read.on_end = option.expr("|report| ..", diagnostics),
            RetryableOption::Timer => read.timer = option.expr("TIMER", diagnostics),
            RetryableOption::Blocking => {
                option.flag(diagnostics);
                read.blocking = Some(option);
            }
            RetryableOption::Crate => read.crate_path = option.path(diagnostics),
        }
    }
    check_idempotent(&read, diagnostics);
    if no_strategy {
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
    read
}

/// Whether a misspelled or foreign option means `idempotent = false`.
fn is_not_twice(other: &Other<RetryableOption>) -> bool {
    let misspelled = other.meant.contains(&RetryableOption::Idempotent) && other.value.as_ref().is_some_and(is_false);
    misspelled || other.advice == Some(NOT_TWICE)
}

/// Reports an `idempotent` whose value is not `true` or `false`.
fn check_idempotent(options: &Options, diagnostics: &mut Diagnostics) {
    let (None, Some(option)) = (options.idempotent, &options.idempotent_option) else { return };
    if options.contradicts_policy() {
        // Validation reports it, whatever its value is.
        return;
    }
    let computed = match option.computed() {
        // A policy that exists must not be replaced.
        Some(value) if !options.gives(RetryableOption::Policy) => format!(
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
