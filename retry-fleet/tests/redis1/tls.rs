//! The store over TLS, with certificate authorities that are made for the test.

use crate::authority::{Authority, Files, PASSWORD, start};
use crate::connection::{answered, call};
use crate::errors::told;
use crate::server::{PATIENCE, RedisServer};
use redis::{Client, Commands};
use retry_core::RetryErrorType::Other;
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, Membership};
use std::fmt::{Debug, Write};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};
use tokio::time::sleep;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

const HASH: &str = "retry-fleet:1:{orders}";

/// A server that speaks TLS only, to one user.
struct TlsServer {
    server: RedisServer,
    authority: Authority,
    options: Vec<String>,
    _files: Files,
}

impl TlsServer {
    /// Starts a server, which asks its clients for certificates, too, or not: yes or no.
    fn start(asks_clients: &str) -> Self {
        let authority = Authority::new("the authority of the server");
        let files = authority.files();
        let mut options = files.options("");
        options.extend(["--tls-auth-clients", asks_clients, "--user", "default", "off"].map(str::to_owned));
        let server = start(&options, &[]);
        Self { server, authority, options, _files: files }
    }

    fn restart(&mut self) {
        self.server.restart(&self.options.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn url(&self, scheme: &str, password: &str) -> String {
        format!("{scheme}://fleet:{password}@127.0.0.1:{}", self.server.port)
    }

    fn store(&self) -> RedisStore {
        RedisStore::from(self.authority.client(&self.url("rediss", PASSWORD), None))
    }

    fn number(&self, field: &str) -> Option<u32> {
        let client = self.authority.client(&self.url("rediss", PASSWORD), None);
        client.get_connection().unwrap().hget(HASH, field).unwrap()
    }
}

/// A layer that keeps all fields of events.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Events {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                write!(self.0, " {field}={value:?}").unwrap();
            }
        }
        let mut text = Text(event.metadata().name().to_owned());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }
}

impl Events {
    /// Listens to the events of this thread.
    pub(crate) fn listen(&self) -> DefaultGuard {
        // With a single subscriber in the process, an event that a thread without one is the first to report is noted as one to
        // which nobody listens.
        static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));
        LazyLock::force(&SECOND);
        tracing::subscriber::set_default(tracing_subscriber::registry().with(self.clone()))
    }

    pub(crate) fn find(&self, name: &str, fleet: &str) -> Option<String> {
        let events = self.0.lock().unwrap();
        events.iter().find(|text| text.starts_with(name) && text.contains(&format!("fleet=\"{fleet}\""))).cloned()
    }
}

pub(crate) async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn join(name: &str, store: RedisStore) -> (Arc<EvidenceQuota>, Membership) {
    let quota = Arc::new(EvidenceQuota::new());
    quota.first_succeeded(0);
    let membership = Fleet::new(name, store).quota(Arc::clone(&quota)).join().unwrap();
    (quota, membership)
}

// Rules F1, F3, F12.
#[tokio::test]
#[cfg_attr(not(feature = "tracing"), ignore = "needs the feature `tracing`, or `--all-features`")]
async fn processes_share_what_they_know_over_tls_and_reconnect_to_a_restarted_server() {
    let events = Events::default();
    let _subscribed = events.listen();
    let mut server = TlsServer::start("no");
    let (first, second) = (join("orders", server.store()), join("orders", server.store()));
    let both = [&first, &second];
    wait_until("both have joined", || both.iter().all(|(_, membership)| membership.status().members == 2)).await;

    // All attempts of the first one fail.
    let started = Instant::now();
    while server.number("missing") < Some(10_000) {
        assert!(started.elapsed() < PATIENCE, "only {:?} is missing", server.number("missing"));
        // To look takes long on a busy machine. With an attempt for each look, there could be too little traffic for ten retries.
        for _ in 0..40 {
            first.0.pay(14, Other, &TokioTimer);
            sleep(Duration::from_millis(5)).await;
        }
    }
    sleep(Duration::from_millis(1_300)).await;
    assert_eq!(second.0.pay(14, Other, &TokioTimer), None, "it has heard that retries do not help");

    server.restart();
    wait_until("both are back", || server.number("members") == Some(2)).await;
    wait_until("they know that the store was emptied", || events.find("store_emptied", "orders").is_some()).await;
    assert!(both.iter().all(|(_, membership)| membership.status().is_connected == Some(true)));
    first.1.leave().await;
    second.1.leave().await;
    assert_eq!(server.number("members"), Some(0));
}

// Rules F3, F13.
#[tokio::test]
#[cfg_attr(not(feature = "tracing"), ignore = "needs the feature `tracing`, or `--all-features`")]
async fn without_the_right_certificate_or_password_a_process_continues_alone_and_reports_why_without_the_password() {
    const WRONG: &str = "wr0ng-word";
    let events = Events::default();
    let _subscribed = events.listen();
    let server = TlsServer::start("no");
    let (right, wrong) = (server.url("rediss", PASSWORD), server.url("rediss", WRONG));
    let (other, trusted) = (Authority::new("another authority"), &server.authority);
    let cases = [
        ("another authority", other.client(&right, None), "UnknownIssuer"),
        ("the authorities of the system", Client::open(right.as_str()).unwrap(), "UnknownIssuer"),
        ("wrong password", trusted.client(&wrong, None), "authentication failed"),
        ("wrong password by HELLO", trusted.client(&(wrong + "/?protocol=resp3"), None), "WRONGPASS"),
        ("without TLS", Client::open(server.url("redis", PASSWORD)).unwrap(), ""),
    ];
    let address = format!("127.0.0.1:{}", server.server.port);
    for (name, client, expected) in &cases {
        let mut store = RedisStore::from(client.clone());
        let shown = format!("{store:?} {store:#?} {:?}", Fleet::new("orders", RedisStore::from(client.clone())));
        assert!(shown.contains(&address), "{shown}");
        let started = Instant::now();
        loop {
            let error = told(&call(&mut store).await.unwrap_err());
            assert!(error.contains(&address), "{name}: {error}");
            for text in [&error, &shown] {
                assert!(!text.contains(PASSWORD) && !text.contains(WRONG), "{name}: {text}");
            }
            if error.contains(expected) {
                break;
            }
            // On a busy machine, it can time out.
            assert!(started.elapsed() < PATIENCE, "{name}: {error}");
            sleep(Duration::from_millis(10)).await;
        }
    }
    // Each handshake loads all authorities of the system, which takes a while, so only two processes do that here.
    for (name, client, expected) in [&cases[0], &cases[2]] {
        let started = Instant::now();
        for attempt in 0.. {
            let fleet = format!("{name} {attempt}");
            let (quota, membership) = join(&fleet, RedisStore::from(client.clone()));
            wait_until(&fleet, || events.find("store_lost", &fleet).is_some()).await;
            let is_paid = quota.pay(14, Other, &TokioTimer).is_some();
            assert_eq!((is_paid, membership.status().is_connected), (true, None), "{fleet}: it decides alone");
            let shown = format!("{quota:?} {membership:?}");
            assert!(!shown.contains(PASSWORD) && !shown.contains(WRONG), "{fleet}: {shown}");
            let event = events.find("store_lost", &fleet).unwrap();
            if event.contains(&address) && event.contains(expected) {
                break;
            }
            // On a busy machine, the last call before the event can take longer than a second.
            assert!(event.contains("no answer") || event.contains("timed out"), "{event}");
            assert!(started.elapsed() < PATIENCE, "{event}");
        }
    }
    for event in events.0.lock().unwrap().iter() {
        assert!(!event.contains(PASSWORD) && !event.contains(WRONG), "{event}");
    }
}

#[tokio::test]
async fn a_server_may_ask_for_the_certificate_of_a_process() {
    let server = TlsServer::start("yes");
    let url = server.url("rediss", PASSWORD);
    let own = server.authority.issue("a process");
    answered(&mut RedisStore::from(server.authority.client(&url, Some(&own)))).await;
    let foreign = Authority::new("another authority").issue("a process");
    for certificate in [None, Some(&foreign)] {
        // The server ends the connection, and the reason may be lost on the way.
        let error = call(&mut RedisStore::from(server.authority.client(&url, certificate))).await.unwrap_err();
        let address = format!("127.0.0.1:{}", server.server.port);
        assert!(error.to_string().contains(&address) && !told(&error).contains(PASSWORD), "{error}");
    }
}
