//! The headers by which a server asks for a wait or reports its rate limit.

mod carriers;
mod grammar;
mod oracle;
mod rate_limit;
