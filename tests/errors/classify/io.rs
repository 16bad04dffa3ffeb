//! The classification of I/O errors by their kind.

use super::verdict;
use retry_core::classify::{Classification, io};
use retry_core::{ErrorFault, RetryInfo, RetrySafety};
use std::io::{Error, ErrorKind as K};

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

// Rule E11.
#[test]
fn every_kind_of_io_error_is_classified_as_in_its_row() {
    let rows: [(&[K], Classification); 4] = [
        (&[K::ConnectionRefused], verdict(Yes, "", Other)),
        (&[K::TimedOut, K::WouldBlock], verdict(Maybe, "timeout", Other)),
        (
            &[
                K::ConnectionReset,
                K::ConnectionAborted,
                K::BrokenPipe,
                K::NotConnected,
                K::UnexpectedEof,
                K::HostUnreachable,
                K::NetworkUnreachable,
                K::NetworkDown,
            ],
            verdict(Maybe, "", Server),
        ),
        (&[K::Interrupted, K::AddrInUse, K::AddrNotAvailable, K::ResourceBusy], verdict(Maybe, "", Other)),
    ];
    assert_eq!(rows.map(|(kinds, _)| kinds.len()), [1, 2, 8, 4]);
    for (kinds, expected) in rows {
        for kind in kinds {
            assert_eq!(io::known_kind(*kind), Some(expected), "{kind:?}");
            assert_eq!(io::known(&Error::new(*kind, "text")), Some(expected), "{kind:?}");
        }
    }
}

// Rule E11.
#[test]
fn any_other_kind_has_no_classification() {
    // All other kinds that have a stable name.
    let kinds = [
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
        K::OutOfMemory,
        K::Other,
    ];
    for kind in kinds {
        assert_eq!(io::known_kind(kind), None, "{kind:?}");
        assert_eq!(io::known(&Error::new(kind, "text")), None, "{kind:?}");
    }
    // A kind without a name: no errno has this number.
    assert_eq!(io::known(&Error::from_raw_os_error(i32::MAX)), None);
}

#[test]
fn a_field_without_an_answer_leaves_it_to_the_other_attributes() {
    #[derive(RetryInfo)]
    enum Failure {
        Silent(#[retry(with = io::known)] Error),
        #[retry(timeout, fault = "client")]
        Loud(#[retry(with = io::known)] Error),
    }
    let says = |error: Failure| Classification::of(&error);
    let (eof, not_found) = (|| Error::from(K::UnexpectedEof), || Error::from(K::NotFound));
    assert_eq!(says(Failure::Silent(eof())), verdict(Maybe, "", Server));
    assert_eq!(says(Failure::Silent(not_found())), verdict(No, "", Other));
    assert_eq!(says(Failure::Loud(eof())), verdict(Maybe, "timeout", Client));
    assert_eq!(says(Failure::Loud(not_found())), verdict(Maybe, "timeout", Client));
}
