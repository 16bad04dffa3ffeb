//! What I/O errors mean, and chains of errors.

use super::verdict;
use retry_core::classify::{Classification, chain, io};
use retry_core::{ErrorFault, RetrySafety};
use std::error::Error;
use std::fmt;
use std::io::ErrorKind;

use ErrorFault::{Other, Server};
use RetrySafety::{Maybe, No, Yes};

#[test]
fn every_kind_of_io_error_means_what_its_row_says() {
    use ErrorKind as K;
    let rows: &[(&[ErrorKind], Classification)] = &[
        (
            &[K::ConnectionRefused, K::HostUnreachable, K::NetworkUnreachable, K::NetworkDown, K::Interrupted],
            verdict(Yes, "", Other),
        ),
        (&[K::TimedOut], verdict(Maybe, "timeout", Other)),
        (&[K::ConnectionReset, K::ConnectionAborted, K::BrokenPipe, K::NotConnected], verdict(Maybe, "", Server)),
        (&[K::AddrInUse, K::AddrNotAvailable, K::ResourceBusy, K::WouldBlock], verdict(Maybe, "", Other)),
        (
            // All others that have a name.
            &[
                K::NotFound,
                K::PermissionDenied,
                K::AlreadyExists,
                K::NotADirectory,
                K::IsADirectory,
                K::DirectoryNotEmpty,
                K::ReadOnlyFilesystem,
                K::StaleNetworkFileHandle,
                K::InvalidInput,
                K::InvalidData,
                K::WriteZero,
                K::StorageFull,
                K::NotSeekable,
                K::QuotaExceeded,
                K::FileTooLarge,
                K::ExecutableFileBusy,
                K::Deadlock,
                K::CrossesDevices,
                K::TooManyLinks,
                K::InvalidFilename,
                K::ArgumentListTooLong,
                K::Unsupported,
                K::UnexpectedEof,
                K::OutOfMemory,
                K::Other,
            ],
            verdict(No, "", Other),
        ),
    ];
    assert_eq!(rows.iter().map(|(kinds, _)| kinds.len()).collect::<Vec<_>>(), [5, 1, 4, 4, 25]);
    for (kinds, expected) in rows {
        for kind in *kinds {
            assert_eq!(io::kind(*kind), *expected, "{kind:?}");
            assert_eq!(io::error(&std::io::Error::new(*kind, "text")), *expected, "{kind:?}");
        }
    }
}

/// An error that says nothing but its source.
#[derive(Debug)]
struct Layer(Option<Box<dyn Error + Send + Sync>>);

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer")
    }
}

impl Error for Layer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.0.as_deref()?)
    }
}

fn layers(count: usize, inmost: impl Into<Box<dyn Error + Send + Sync>>) -> Box<dyn Error + Send + Sync> {
    (0..count).fold(inmost.into(), |error, _| Box::new(Layer(Some(error))))
}

#[test]
fn a_chain_means_what_its_first_known_link_means() {
    let refused = || std::io::Error::from(ErrorKind::ConnectionRefused);
    let outer_first = std::io::Error::new(ErrorKind::TimedOut, refused());
    let cases: [(Box<dyn Error + Send + Sync>, Option<ErrorKind>); 9] = [
        (layers(0, refused()), Some(ErrorKind::ConnectionRefused)),
        (layers(3, refused()), Some(ErrorKind::ConnectionRefused)),
        (layers(3, "text"), None),
        (layers(2, outer_first), Some(ErrorKind::TimedOut)),
        // `Error::other` wraps, and `source` steps over what is in it.
        (layers(2, std::io::Error::other(refused())), Some(ErrorKind::ConnectionRefused)),
        (layers(1, std::io::Error::other(layers(1, refused()))), Some(ErrorKind::ConnectionRefused)),
        (layers(1, std::io::Error::other("text")), Some(ErrorKind::Other)),
        (layers(63, refused()), Some(ErrorKind::ConnectionRefused)),
        (layers(64, refused()), None),
    ];
    for (number, (error, expected)) in cases.iter().enumerate() {
        assert_eq!(chain::io(&**error), expected.map(io::kind), "case {number}");
    }
}

#[test]
fn a_chain_that_leads_into_itself_has_an_end() {
    #[derive(Debug)]
    struct Circle;
    impl fmt::Display for Circle {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a circle")
        }
    }
    impl Error for Circle {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }
    let mut links = 0;
    let verdict = chain::first_known(&Circle, |_| {
        links += 1;
        None
    });
    assert_eq!((verdict, links), (None, 64));
}
