#![deny(deprecated)]

use retry_core::RetryInfo;
use std::io;
use thiserror::Error;

#[derive(Debug, Error, RetryInfo)]
enum Failure<E: std::error::Error + 'static> {
    #[error("from")]
    From(#[from] io::Error),
    #[error("source")]
    Source {
        #[source]
        cause: E,
    },
    #[error("named")]
    Named { source: io::Error },
    #[error(transparent)]
    Transparent(std::fmt::Error),
    // It says nothing, and that is known.
    #[error("quiet")]
    #[allow(deprecated)]
    Quiet(#[source] io::Error),
    // These hold no inner error.
    #[error("leaf")]
    Leaf(String),
    #[error("parsed")]
    Parsed(std::num::ParseIntError),
    // These say what it means.
    #[error("labelled")]
    #[retry(never)]
    Labelled(#[source] io::Error),
    #[error("marked")]
    Marked(
        #[source]
        #[retry(with = retry_core::classify::io::known)]
        io::Error,
    ),
}

#[derive(Debug, Error, RetryInfo)]
#[error(transparent)]
struct Failed(#[from] io::Error);

// All of them are meant.
#[derive(Debug, Error, RetryInfo)]
#[retry(never)]
enum Never {
    #[error("io")]
    Io(#[from] io::Error),
}

#[derive(Debug, Error, RetryInfo)]
#[allow(deprecated)]
enum Allowed {
    #[error("io")]
    Io(#[from] io::Error),
}

fn main() {}

// Rule M21.
