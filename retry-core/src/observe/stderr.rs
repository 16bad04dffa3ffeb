//! Warnings on standard error, in debug builds of programs where nothing else gets them.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program has not turned the warnings off. It publishes no other data, so relaxed ordering suffices.
static ARE_ENABLED: AtomicBool = AtomicBool::new(true);

/// Turns the warnings on standard error on or off, for the whole process. They are on by default.
///
/// In builds with debug assertions, the first [unknown error](crate::EventKind::UnknownError) of a function is a line on standard
/// error, if the operation has no observer, the program no subscriber of `tracing`, and the thread no test guard. The line names the
/// function and the type of the error, not its text. There are at most 20 lines in a process, and none in builds without
/// debug assertions, such as release builds.
///
/// The environment variable `RETRY_STDERR_WARNINGS=off` turns them off, too.
///
/// ```
/// retry_core::observe::set_stderr_warnings_enabled(false);
/// ```
pub fn set_stderr_warnings_enabled(enabled: bool) {
    ARE_ENABLED.store(enabled, Ordering::Relaxed);
}

/// Returns whether warnings of this thread go to standard error.
#[cfg(debug_assertions)]
pub(crate) fn are_enabled() -> bool {
    #[cfg(feature = "test")]
    if crate::support::session::current().is_some() {
        return false;
    }
    ARE_ENABLED.load(Ordering::Relaxed)
        && !super::trace::has_subscriber()
        && std::env::var_os("RETRY_STDERR_WARNINGS").is_none_or(|value| value != "off")
}

/// Writes a warning. What can't be written is lost.
#[cfg(debug_assertions)]
pub(crate) fn warn(warning: std::fmt::Arguments<'_>) {
    #[cfg(feature = "test")]
    #[expect(clippy::print_stderr, reason = "the harness shows it with a test that fails")]
    {
        eprintln!("retry-core: {warning}");
    }
    // Without a macro that panics if standard error is closed.
    #[cfg(not(feature = "test"))]
    {
        use std::io::Write;
        _ = writeln!(std::io::stderr(), "retry-core: {warning}");
    }
}
