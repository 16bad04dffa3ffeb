//! Certificate authorities, and servers that speak TLS only, made for one test.

use crate::server::RedisServer;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use redis::{Client, ClientTlsConfig, TlsCertificates};
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) const PASSWORD: &str = "pass-w0rd";

/// A certificate and its key, in PEM.
pub(crate) struct Certificate {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// A certificate authority.
pub(crate) struct Authority {
    pub(crate) certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut settings = CertificateParams::default();
        settings.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        settings.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = settings.self_signed(&key).unwrap().pem();
        Self { certificate, issuer: Issuer::new(settings, key) }
    }

    pub(crate) fn issue(&self, name: &str) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let settings = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = settings.signed_by(&key, &self.issuer).unwrap().pem();
        Certificate { certificate, key: key.serialize_pem() }
    }

    /// Returns what a client needs that trusts this authority only.
    pub(crate) fn certificates(&self, own: Option<&Certificate>) -> TlsCertificates {
        let client_tls = own.map(|own| ClientTlsConfig {
            client_cert: own.certificate.clone().into(),
            client_key: own.key.clone().into(),
        });
        TlsCertificates { client_tls, root_cert: Some(self.certificate.clone().into()) }
    }

    /// Creates a client that trusts this authority only.
    pub(crate) fn client(&self, url: &str, own: Option<&Certificate>) -> Client {
        Client::build_with_tls(url, self.certificates(own)).unwrap()
    }

    /// Writes a certificate of a server, its key and this authority into files.
    pub(crate) fn files(&self) -> Files {
        let (dir, own) = (tempfile::tempdir().unwrap(), self.issue("127.0.0.1"));
        let texts =
            [("tls-ca-cert-file", &self.certificate), ("tls-cert-file", &own.certificate), ("tls-key-file", &own.key)];
        let settings = texts.map(|(setting, text)| {
            let path = dir.path().join(setting);
            std::fs::write(&path, text).unwrap();
            (setting, path)
        });
        Files { settings, _dir: dir }
    }
}

/// The certificate of a server, in files.
pub(crate) struct Files {
    /// The settings of Redis that name the files.
    pub(crate) settings: [(&'static str, PathBuf); 3],
    _dir: TempDir,
}

impl Files {
    /// Returns the options of a server that speaks TLS only, also to its replicas and in a cluster. Its default user is on, for
    /// the test and for other servers. Processes of a fleet are the user `fleet`, with the documented permissions and these.
    pub(crate) fn options(&self, more: &str) -> Vec<String> {
        let documented = include_str!("../../README.md").lines().find(|line| line.contains("ACL SETUSER")).unwrap();
        let (_, user) = documented.split_once("SETUSER ").unwrap();
        let files = self.settings.iter().flat_map(|(name, path)| [format!("--{name}"), path.display().to_string()]);
        // Else a server waits 5 s for further replicas.
        let no_delay = ["--repl-diskless-sync-delay", "0"];
        let settings = ["--tls-auth-clients", "no", "--tls-replication", "yes", "--tls-cluster", "yes"];
        let user = user.replace("PASSWORD", PASSWORD);
        let user = user.split_whitespace().chain(more.split_whitespace());
        files.chain(settings.into_iter().chain(no_delay).chain(["--user"]).chain(user).map(str::to_owned)).collect()
    }
}

/// Starts a server with these options.
pub(crate) fn start(options: &[String], more: &[&str]) -> RedisServer {
    let server =
        RedisServer::start(&options.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>());
    server.client().get_connection().map(drop).expect_err("the server speaks TLS only");
    server
}

/// The URL of a server for the user `fleet`.
pub(crate) fn url(port: u16) -> String {
    format!("rediss://fleet:{PASSWORD}@127.0.0.1:{port}")
}
