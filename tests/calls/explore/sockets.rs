//! Explorations of a client and a server on a real socket, neither of which has points.

use super::{Failed, STORE, block_on, kinds};
use retry_core::test::{FindingKind, Findings, explore};
use retry_core::{StandardRetryPolicy, retry};
use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Sends an order, and waits for the answer.
async fn post(server: SocketAddr) -> io::Result<()> {
    let mut connection = TcpStream::connect(server).await?;
    connection.write_all(b"order").await?;
    connection.read_exact(&mut [0; 2]).await?;
    Ok(())
}

/// Carries out each request of a connection that arrives.
async fn serve(listener: TcpListener, orders: Rc<RefCell<u32>>) {
    while let Ok((mut connection, _)) = listener.accept().await {
        if connection.read_exact(&mut [0; 5]).await.is_ok() {
            *orders.borrow_mut() += 1;
            let _ = connection.write_all(b"ok").await;
        }
    }
}

fn order(idempotent: bool) -> Findings {
    explore().no_answer(|| Failed::NoAnswer).run(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let (address, orders) = (listener.local_addr().unwrap(), Rc::new(RefCell::new(0)));
            tokio::task::spawn_local(serve(listener, Rc::clone(&orders)));
            let call = async || post(address).await.map_err(|_| Failed::Refused);
            let policy = StandardRetryPolicy::new().idempotent(idempotent);
            retry(&STORE, call).policy(policy).name("post").run().await.unwrap();
            assert_eq!(*orders.borrow(), 1);
        });
    })
}

// Rule G10.
#[test]
fn a_request_on_a_real_socket_that_is_sent_twice_is_found() {
    for _ in 0..5 {
        let found = order(true);
        assert!(kinds(&found).contains(&FindingKind::Breaks), "{found}");
        order(false).assert_none();
    }
}

// Rule G10.
#[test]
fn if_awaits_differ_from_run_to_run_an_answer_is_lost_after_the_whole_attempt() {
    let order = |idempotent: bool| {
        let polls = AtomicU32::new(0);
        explore().no_answer(|| Failed::NoAnswer).run(move || {
            let orders = RefCell::new(0);
            let call = async || {
                for _ in 0..=polls.fetch_add(1, Ordering::Relaxed) % 3 {
                    tokio::task::yield_now().await;
                }
                *orders.borrow_mut() += 1;
                Ok::<_, Failed>(())
            };
            let policy = StandardRetryPolicy::new().idempotent(idempotent);
            block_on(retry(&STORE, call).policy(policy).name("post").run()).unwrap();
            assert_eq!(*orders.borrow(), 1);
        })
    };
    let found = order(true);
    assert_eq!(found.findings[0].case, "`post` without an answer, pass 1, once", "{found}");
    assert!(found.notes.concat().contains("awaits differ from run to run"), "{found}");
    order(false).assert_none();
}
