//! A server that gives one answer to everything but the setup of a connection.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) struct FakeServer {
    pub(crate) port: u16,
    accepted: Arc<AtomicU32>,
    task: JoinHandle<()>,
}

impl FakeServer {
    /// Starts a server that answers a script, or a password, with this.
    pub(crate) async fn start(answer: impl Into<String>) -> Self {
        let (answer, accepted) = (answer.into(), Arc::new(AtomicU32::new(0)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, answer.clone()));
            }
        });
        Self { port, accepted, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn accepted(&self) -> u32 {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: String) {
    let mut data = [0; 16_384];
    while let Ok(length @ 1..) = stream.read(&mut data).await {
        let text = String::from_utf8_lossy(&data[..length]).into_owned();
        // A pipeline has several commands, each of which begins with the number of its words.
        let commands = text.match_indices('*').filter(|(index, _)| *index == 0 || text[..*index].ends_with('\n'));
        for (index, _) in commands {
            let command = &text[index..];
            let is_meant = ["EVAL", "AUTH", "HELLO"]
                .iter()
                .any(|word| command.lines().nth(2).is_some_and(|it| it.starts_with(word)));
            let bytes = if is_meant { answer.as_bytes() } else { b"+OK\r\n" };
            if stream.write_all(bytes).await.is_err() {
                return;
            }
        }
    }
}
