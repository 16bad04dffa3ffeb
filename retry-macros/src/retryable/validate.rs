//! Checks the options together with the signature.

use crate::diagnostics::{Diagnostics, choices};
use crate::retryable::arguments::{self, Argument, Lending, mutable_reference};
use crate::retryable::attr::{self, Options, RetryableOption};
use crate::retryable::body::{self, Body};
use crate::retryable::given::Given;
use crate::retryable::hedge_option::Hedge;
use crate::retryable::limits::Limit;
use crate::retryable::model::{Policy, RetriedFunction};
use crate::retryable::rebind;
use crate::retryable::signature;
use crate::retryable::strategy::Dependency;
use crate::retryable::tail::{self, Tail};
use crate::tokens::{mentions, private, source};
use proc_macro2::Ident;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, FnArg, ItemFn, Pat, PatType, Path, Signature, Stmt, parse_quote};

pub(super) fn validate(
    mut options: Options,
    mut function: ItemFn,
    diagnostics: &mut Diagnostics,
) -> Option<RetriedFunction> {
    contradictions(&options, diagnostics);
    if let Some(second) = function.attrs.iter().map(Attribute::path).find(|path| is_retryable(path)) {
        diagnostics.error(
            second,
            "`#[retryable]` is given twice, so that each attempt of one would be a whole operation of the other; remove one",
        );
    }
    let form = form(&function, &options.given, diagnostics);
    let outcome = match form {
        Some(Form::Tail(ref tail, _)) => Some(tail.output(&function.sig.output)),
        _ => signature::outcome(&function.sig.output),
    };
    check_signature(&function.sig, matches!(form, Some(Form::Tail(..))), diagnostics);
    if !options.given.gives(RetryableOption::Policy) && outcome.is_none() {
        let name = &function.sig.ident;
        match options.given.advising(RetryableOption::Policy) {
            Some(word) => diagnostics.error(
                word,
                format!(
                    "`{name}` returns nothing, so there is no outcome that this could decide on; return a `Result`"
                ),
            ),
            None => diagnostics
                .error(name, format!("`{name}` returns nothing, so a failure looks like a success; return a `Result`")),
        }
    }
    let mut arguments = arguments::take_arguments(&mut function.sig);
    check_hedge(&options, &function.sig, &arguments, diagnostics);
    if form.is_none() {
        check_names(options.context.as_ref(), &options.clone, &arguments, &function.sig, diagnostics);
    }
    let (blocking, mut body) = match form? {
        Form::Async => (false, Body::whole(&function)),
        Form::Blocking => (true, Body::whole(&function)),
        Form::Tail(tail, attempt) => (false, Body::in_block(attempt, tail)),
    };
    let locals = body.locals();
    declare_for_once(&locals, &mut arguments, &mut body, &mut function.sig);
    if let Some(receiver) = body.take_moves(&mut arguments, &function.sig) {
        let moved = arguments.iter().find(|argument| argument.ident == receiver);
        let used_up = moved.filter(|argument| argument.lending != Lending::Reference);
        if let Some(mutability) = used_up.and_then(|argument| argument.mutability) {
            mutable_receiver(mutability, diagnostics);
        }
        options.expressions().into_iter().for_each(|expr| body::rename_self(expr, &receiver));
    }
    let Options {
        strategy,
        policy,
        idempotent,
        hedge,
        weighing,
        limits,
        name,
        context,
        clone,
        observer,
        on_retry,
        on_end,
        timer,
        crate_path,
        given,
    } = options;
    check_names(context.as_ref(), &clone, &arguments, &function.sig, diagnostics);
    declare_mut_for(
        [&on_retry, &on_end, &limits.stop_when, &limits.timed_out],
        &mut arguments,
        &mut body,
        &mut function.sig,
    );
    let dependency = |expr: Expr| Dependency::of(&expr, &arguments, &locals);
    let crate_path = crate_path.unwrap_or_else(|| parse_quote!(::retry_core));
    let mut retried = RetriedFunction {
        blocking,
        body,
        outcome: outcome.unwrap_or_else(|| parse_quote!(())),
        strategy: match strategy? {
            attr::Strategy::Own(own) => Dependency::Own(own),
            attr::Strategy::Expr(expr) => Dependency::of_strategy(&expr, &arguments, &locals, &private()),
        },
        policy: Policy::of(policy, idempotent),
        hedge: hedge.zip(given.written(RetryableOption::Hedge).map(|option| option.name.clone())),
        weighing,
        limits,
        name,
        context,
        observer: observer.map(dependency),
        on_retry,
        on_end,
        timer: timer.map(dependency),
        function,
        arguments,
        receiver: None,
        clone,
        crate_path,
    };
    rebind::lend(&mut retried);
    Some(retried)
}

/// Keeps the `mut` of the arguments that the code around the attempts names, and hides those whose names it binds again.
fn declare_for_once(locals: &[Ident], arguments: &mut [Argument], body: &mut Body, signature: &mut Signature) {
    let once = body.once();
    let once = quote!(#(#once)*);
    for argument in arguments.iter_mut().filter(|argument| mentions(&once, &[&argument.ident])) {
        if argument.mutability.is_some() {
            body.declare_mut(signature, &argument.ident);
            argument.is_mut = true;
        }
        if locals.contains(&argument.ident) {
            argument.hide();
        }
    }
}

/// Keeps the `mut` of the arguments that `on_retry`, `on_end`, `stop_when` or `timed_out` names. It is outside of the attempts, so it changes the
/// argument itself.
fn declare_mut_for(
    options: [&Option<Expr>; 4],
    arguments: &mut [Argument],
    body: &mut Body,
    signature: &mut Signature,
) {
    let options = options.into_iter().flatten().map(ToTokens::to_token_stream).collect();
    for argument in arguments {
        if argument.mutability.is_some() && mentions(&options, &[&argument.ident]) {
            body.declare_mut(signature, &argument.ident);
            argument.is_mut = true;
        }
    }
}

/// The options that can cut an attempt, or prevent the first one.
const LIMITS: [RetryableOption; 5] = [
    RetryableOption::MaxTime,
    RetryableOption::Deadline,
    RetryableOption::AttemptTimeout,
    RetryableOption::Stop,
    RetryableOption::StopWhen,
];

/// Reports options that can't be combined.
fn contradictions(options: &Options, diagnostics: &mut Diagnostics) {
    let given = &options.given;
    if let Some(option) = given.idempotent_beside_policy() {
        let policy = options.policy.as_ref();
        let message = if let Some(Expr::Closure(_)) = policy {
            "`idempotent` has no effect beside a `policy` that is a closure, which decides alone what is retried; \
             remove `idempotent`"
                .to_owned()
        } else {
            let value = match (options.idempotent, option.computed()) {
                (Some(value), _) => value.to_string(),
                (None, Some(value)) => source(value),
                (None, None) => "..".to_owned(),
            };
            format!(
                "`idempotent` is a setting of the policy; beside `policy`, set it there: \
                 `policy = {}.idempotent({value})`",
                policy.map_or_else(|| "POLICY".to_owned(), source)
            )
        };
        diagnostics.error(option, message);
    }
    let lacks_all = |these: &[RetryableOption]| these.iter().all(|option| given.lacks(*option));
    let blocking = given.written(RetryableOption::Blocking);
    if let (Some(_), Some(option)) = (blocking, given.written(RetryableOption::AttemptTimeout)) {
        diagnostics.error(
            option,
            "an attempt that blocks its thread can't be cut; set a timeout on the call that blocks, or bound waits and \
             starts with `max_time`",
        );
    }
    if let Some(option) = given.written(RetryableOption::CutOnStop) {
        if blocking.is_some() {
            diagnostics.error(
                option,
                "an attempt that blocks its thread can't be cut by a stop; remove `cut_on_stop`, and set a timeout on the call \
                 that blocks",
            );
        } else if lacks_all(&[RetryableOption::Stop, RetryableOption::StopWhen]) {
            diagnostics.error(
                option,
                "`cut_on_stop` lets a stop cut the attempt that runs; add `stop` or `stop_when`, or remove it",
            );
        }
    }
    if let (Some(_), Some(option)) = (blocking, given.written(RetryableOption::StopWhen)) {
        diagnostics.error(
            option,
            "a function that blocks can't poll a future; write `stop = STOP` with `static STOP: Stop = Stop::new();`, and call \
             `STOP.stop()` where the future would be ready",
        );
    }
    if let (Some(option), true) = (given.written(RetryableOption::TimedOut), lacks_all(&LIMITS)) {
        diagnostics.error(
            option,
            "`timed_out` makes the error of an operation that a limit cuts, and none is given; add `max_time`, `deadline`, \
             `attempt_timeout`, `stop` or `stop_when`, or remove it",
        );
    }
    if let (Some(option), true) = (given.written(RetryableOption::MaxAttempts), options.limits.unlimited_attempts) {
        diagnostics.error(option, "`max_attempts` and `unlimited_attempts` contradict each other; remove one");
    }
    if let (Some(Limit::Constant(all)), Some(Limit::Constant(each)), Some(option)) =
        (&options.limits.max_time, &options.limits.attempt_timeout, given.written(RetryableOption::AttemptTimeout))
        && each > all
    {
        diagnostics.error(
            option.value(),
            "`attempt_timeout` is longer than `max_time`, which cuts the attempt earlier; write a shorter one, or \
             remove it",
        );
    }
}

/// Whether a path names this attribute, under any name of its crate.
fn is_retryable(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "retryable")
}

/// How a function runs its attempts.
enum Form {
    /// As an `async fn`.
    Async,
    /// In the `async` block at its end, which has these statements.
    Tail(Tail, Vec<Stmt>),
    /// By blocking its thread.
    Blocking,
}

fn form(function: &ItemFn, given: &Given, diagnostics: &mut Diagnostics) -> Option<Form> {
    let (signature, name) = (&function.sig, &function.sig.ident);
    if let Some(constness) = &signature.constness {
        diagnostics.error(constness, format!("a `const fn` can't wait; write `async fn {name}`"));
        return None;
    }
    let form = match (given.written(RetryableOption::Blocking), signature.asyncness, Tail::take(function)) {
        (None, Some(_), _) => Form::Async,
        (None, None, Some((tail, attempt))) => Form::Tail(tail, attempt),
        (Some(option), None, None) if tail::returns_future(&signature.output) => {
            diagnostics.error(
                option,
                format!(
                    "`blocking` is for functions that block, and `{name}` returns a future; remove `blocking`, and write \
                     `async fn {name}`"
                ),
            );
            return None;
        }
        (Some(_), None, tail) if tail.is_none() || tail::output(&signature.output).is_none() => Form::Blocking,
        (Some(option), _, _) => {
            diagnostics.error(
                option,
                format!("`blocking` is for functions that block, and `{name}` is async; remove `blocking`"),
            );
            return None;
        }
        // It may block, and its `blocking` was reported already.
        (None, None, None) if !given.lacks(RetryableOption::Blocking) => return None,
        (None, None, None) if tail::is_run(function) => {
            diagnostics.error(
                signature.fn_token,
                format!(
                    "`{name}` starts a runtime around its `async` block, as `#[tokio::main]` and `#[tokio::test]` do; \
                     write `#[retryable]` above them"
                ),
            );
            return None;
        }
        (None, None, None) => {
            diagnostics.error(
                signature.fn_token,
                format!(
                    "`{name}` is not async, and a retry has to wait; write `async fn {name}`, end it with an `async move` \
                     block, or add `blocking` if it may block its thread"
                ),
            );
            return None;
        }
    };
    Some(form)
}

fn mutable_receiver(receiver: impl ToTokens, diagnostics: &mut Diagnostics) {
    diagnostics.error(receiver, "`mut self` would be used up by the first attempt; take `&mut self`");
}

fn check_signature(signature: &Signature, is_tail: bool, diagnostics: &mut Diagnostics) {
    if let Some(receiver) = signature::mutable_receiver(signature) {
        mutable_receiver(receiver, diagnostics);
    }
    // The return type of a tail is a future, which may borrow. rustc reports an outcome that does.
    if let Some((borrow, argument)) = signature::borrow_of_mutable(signature).filter(|_| !is_tail) {
        diagnostics.error(
            borrow,
            format!(
                "the return type borrows from the `&mut` argument `{argument}`, which the next attempt needs again; \
                 return an owned value, or borrow from a shared reference"
            ),
        );
    }
}

/// Checks the names in the options: those in `clone` must be arguments, and the name of the context must not be one.
fn check_names(
    context: Option<&Ident>,
    clone: &[Ident],
    arguments: &[Argument],
    signature: &Signature,
    diagnostics: &mut Diagnostics,
) {
    if let Some(context) = context.filter(|name| arguments.iter().any(|argument| argument.ident == **name)) {
        match context_argument(signature, context) {
            Some(argument) => diagnostics.error(
                argument,
                format!("`context = {context}` gives the body its context; delete the argument `{context}`"),
            ),
            None => diagnostics.error(
                context,
                format!("`{context}` is an argument already; give the context another name, as in `context = attempt`"),
            ),
        }
    }
    for (index, name) in clone.iter().enumerate() {
        if !arguments.iter().any(|argument| argument.ident == *name) {
            let names = choices(arguments.iter().map(|argument| &argument.ident));
            let takes =
                if names.is_empty() { "it has no arguments".to_owned() } else { format!("`clone` can take {names}") };
            diagnostics.error(name, format!("`{name}` is not an argument of this function; {takes}"));
        } else if clone.iter().take(index).any(|earlier| earlier == name) {
            diagnostics.error(name, format!("`{name}` is given twice; remove one"));
        }
    }
}

/// Returns the argument with this name, if it is an `AttemptContext`.
fn context_argument<'a>(signature: &'a Signature, name: &Ident) -> Option<&'a PatType> {
    signature.inputs.iter().find_map(|input| match input {
        FnArg::Typed(argument) if matches!(&*argument.pat, Pat::Ident(pattern) if pattern.ident == *name) => {
            mentions(&argument.ty.to_token_stream(), &[&Ident::new("AttemptContext", name.span())]).then_some(argument)
        }
        _ => None,
    })
}

/// Reports what prevents two attempts at the same time.
fn check_hedge(options: &Options, signature: &Signature, arguments: &[Argument], diagnostics: &mut Diagnostics) {
    let given = &options.given;
    let not_twice = given.not_twice().filter(|_| given.gives(RetryableOption::Hedge));
    if let Some(option) = &not_twice {
        diagnostics.error(
            option,
            "`hedge` can execute the function twice at the same time; remove `hedge`, or write `idempotent` if that is safe",
        );
    }
    let Some(hedge) = given.written(RetryableOption::Hedge) else { return };
    if given.written(RetryableOption::Blocking).is_some() {
        diagnostics.error(
            hedge,
            "a hedge runs beside the first attempt, and a function that blocks can only run one at a time; remove `hedge`, or \
             make the function async",
        );
    }
    // `idempotent` without a readable value was reported already.
    if not_twice.is_none() && given.lacks(RetryableOption::Idempotent) {
        diagnostics.error(
            hedge,
            "`hedge` can execute the function twice at the same time; add `idempotent` if that is safe, or remove `hedge`",
        );
    }
    if let (Some(Hedge::Fixed(delay)), Some((limit, time))) = (&options.hedge, options.limits.shortest())
        && *delay >= time
    {
        diagnostics.error(
            hedge.value(),
            format!(
                "`hedge` is not shorter than `{limit}`, which cuts the first attempt before a hedge is sent; write a shorter \
                 delay, or remove `hedge`"
            ),
        );
    }
    let name = &signature.ident;
    let mut refuse = |place: &dyn ToTokens, what: &str| {
        diagnostics.error(
            place,
            format!(
                "two attempts of `{name}` can run at the same time, and can't share {what}; take a shared reference or an owned \
                 value, or remove `hedge`"
            ),
        );
    };
    if let Some(receiver) = signature.receiver().filter(|_| is_mutable(arguments::receiver(signature))) {
        refuse(receiver, "`&mut self`");
    }
    for Argument { ident, .. } in arguments.iter().filter(|argument| is_mutable(argument.lending)) {
        let typed = signature.inputs.iter().find_map(|input| match input {
            FnArg::Typed(argument) if matches!(&*argument.pat, Pat::Ident(pattern) if pattern.ident == *ident) => {
                mutable_reference(&argument.ty)
            }
            _ => None,
        });
        let place: &dyn ToTokens = typed.map_or(ident, |reference| reference);
        refuse(place, &format!("the `&mut` argument `{ident}`"));
    }
}

const fn is_mutable(lending: Lending) -> bool {
    !matches!(lending, Lending::Shared | Lending::Owned)
}
