//! Retries over a simulated network, in simulated time: hosts are cut off, and each attempt of a test is cut at each await.

use retry_core::test::explore;
use simulated::{Network, PayError, pay, pay_without_number};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use turmoil::net::{TcpListener, TcpStream};

/// The simulated network.
struct Simulated;

impl Network for Simulated {
    type Connection = TcpStream;

    async fn connect(&self) -> io::Result<TcpStream> {
        TcpStream::connect(("bank", 7)).await
    }
}

/// What the bank has booked.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<(BTreeSet<u64>, Vec<u32>)>>);

impl Book {
    /// Books an amount, unless a payment with this number was booked before.
    fn pay(&self, number: Option<u64>, amount: u32) {
        let mut book = self.0.lock().unwrap();
        if number.is_none_or(|number| book.0.insert(number)) {
            book.1.push(amount);
        }
    }

    fn amounts(&self) -> Vec<u32> {
        self.0.lock().unwrap().1.clone()
    }
}

/// A network with a bank.
fn simulation(book: &Book) -> turmoil::Sim<'static> {
    let mut simulation = turmoil::Builder::new().simulation_duration(Duration::from_secs(60)).build();
    let book = book.clone();
    simulation.host("bank", move || {
        let book = book.clone();
        async move {
            let listener = TcpListener::bind(("0.0.0.0", 7)).await?;
            loop {
                let (connection, _) = listener.accept().await?;
                let mut connection = BufReader::new(connection);
                let mut line = String::new();
                connection.read_line(&mut line).await?;
                if let Some((number, amount)) = line.trim_end().split_once(' ') {
                    book.pay(number.parse().ok(), amount.parse()?);
                    connection.write_all(b"paid\n").await?;
                }
            }
        }
    });
    simulation
}

#[test]
fn a_payment_survives_a_network_that_is_cut_for_three_seconds() {
    let book = Book::default();
    let mut simulation = simulation(&book);
    simulation.client("shop", async {
        // A client that never reached its bank tries only once in 30 s.
        pay(&Simulated, 1, 3).await?;
        turmoil::partition("shop", "bank");
        let began = tokio::time::Instant::now();
        let back = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            turmoil::repair("shop", "bank");
        };
        let (outcome, ()) = tokio::join!(pay(&Simulated, 2, 5), back);
        outcome?;
        assert!(began.elapsed() > Duration::from_secs(3));
        Ok(())
    });
    simulation.run().unwrap();
    assert_eq!(book.amounts(), [3, 5]);
}

/// Returns a test that pays once and asserts what was booked.
fn payment(pays: impl AsyncFn() -> Result<(), PayError> + Copy + 'static) -> impl Fn() {
    move || {
        let book = Book::default();
        let mut simulation = simulation(&book);
        simulation.client("shop", async move { Ok(pays().await?) });
        simulation.run().unwrap();
        assert_eq!(book.amounts(), [5]);
    }
}

#[test]
fn whatever_fails_an_amount_is_paid_once() {
    explore()
        .no_answer(|| PayError::NoAnswer(io::ErrorKind::TimedOut.into()))
        .run(payment(async || pay(&Simulated, 1, 5).await))
        .assert_none();
}

#[test]
fn a_payment_without_a_number_can_be_booked_twice() {
    let found = explore()
        .no_answer(|| PayError::NoAnswer(io::ErrorKind::TimedOut.into()))
        .run(payment(async || pay_without_number(&Simulated, 5).await))
        .to_string();
    assert!(found.contains("the test fails after a retry"), "{found}");
}
