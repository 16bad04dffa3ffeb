//! A store that speaks TLS only.

use crate::authority::{Authority, start, url};
use crate::run::{Ran, run_with};
use std::path::{Path, PathBuf};

fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_store_over_tls_is_trusted_by_its_authority_only() {
    let (authority, other) = (Authority::new("the authority of the server"), Authority::new("another authority"));
    let dir = tempfile::tempdir().unwrap();
    let [trusted, foreign] = [("trusted.pem", &authority), ("foreign.pem", &other)]
        .map(|(name, authority)| write(dir.path(), name, &authority.certificate).display().to_string());
    let files = authority.files();
    let server = start(&files.options("+scan"), &[]);
    let url = url(server.port);
    let run = |variables: &[(&str, &str)], words: &[&str]| {
        run_with(&[&[("RETRY_FLEET_URL", url.as_str())], variables].concat(), words)
    };

    let off = ["off", "orders", "--for", "10m", "--reason", "a test", "--absent", "--ca", &trusted];
    let ran = run(&[], &off);
    assert!(ran.code == 0 && ran.out.starts_with("the retries of orders are off for "), "{ran:?}");
    // By a variable, and as an authority of the system.
    for variable in ["RETRY_FLEET_CA", "SSL_CERT_FILE"] {
        let ran = run(&[(variable, &trusted)], &["list"]);
        assert!(ran.code == 0 && ran.out.contains("(ada: a test)"), "{variable}: {ran:?}");
    }
    for (variable, path) in [("RETRY_FLEET_CA", &foreign), ("SSL_CERT_FILE", &foreign)] {
        let ran = run(&[(variable, path)], &["show", "orders"]);
        let expected = format!("error: can't connect to the store at 127.0.0.1:{}: ", server.port);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert!(
            ran.err.starts_with(&expected) && ran.err.contains("invalid peer certificate: UnknownIssuer"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_store_may_ask_for_the_certificate_of_the_operator() {
    let authority = Authority::new("the authority of the server");
    let (dir, own) = (tempfile::tempdir().unwrap(), authority.issue("ada"));
    let write = |name: &str, text: &str| write(dir.path(), name, text).display().to_string();
    let (ca, cert, key) =
        (write("ca", &authority.certificate), write("cert", &own.certificate), write("key", &own.key));
    let files = authority.files();
    let server = start(&files.options("+scan"), &["--tls-auth-clients", "yes"]);
    let url = url(server.port);
    let run = |words: &[&str]| -> Ran { run_with(&[("RETRY_FLEET_URL", url.as_str())], words) };

    assert_eq!(run(&["list", "--ca", &ca, "--cert", &cert, "--key", &key]).out, "the store has no fleets\n");
    assert_eq!(run(&["list", "--ca", &ca]).code, 1);
    // Both or none, and files that can be read.
    let other = run_with(
        &[("RETRY_FLEET_URL", &url), ("RETRY_FLEET_CA", &ca), ("RETRY_FLEET_CERT", &cert)],
        &["list", "--key", &key],
    );
    assert_eq!(other.out, "the store has no fleets\n");
    assert_eq!(run(&["--ca", &ca, "--cert", &cert, "list", "--key", &key]).code, 0);
    for (words, missing) in [
        (&["list", "--ca", &ca, "--cert", &cert][..], "add --key FILE"),
        (&["--cert", &cert, "list", "--ca", &ca], "add --key FILE"),
        (&["list", "--ca", &ca, "--key", &key], "add --cert FILE"),
    ] {
        let ran = run(words);
        assert!(ran.code == 2 && ran.err.contains(missing), "{ran:?}");
    }
    let ran = run(&["list", "--ca", "/nowhere"]);
    assert!(ran.code == 2 && ran.err.contains("No such file"), "{ran:?}");
    let ran = run(&["list", "--ca", &ca, "--cert", &cert, "--key", &ca]);
    assert!(ran.code == 2 && ran.err.contains("the certificates can't be used: "), "{ran:?}");
    let plain = run_with(&[("RETRY_FLEET_URL", "redis://127.0.0.1")], &["list", "--ca", &ca]);
    assert!(plain.code == 2 && plain.err.contains("rediss://"), "{plain:?}");
}
