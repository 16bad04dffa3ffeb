//! Mistakes that released clients had, in their form: the ordinary tests pass, and an exploration finds each.

use super::{Failed, STORE, answered, block_on, sent};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::test::{FindingKind, explore};
use retry_core::{StandardRetryPolicy, retryable};
use retry_tower::RetryLayer;
use std::cell::RefCell;
use std::rc::Rc;

/// Asserts that a test passes without failures, and that an exploration finds the mistake only in its wrong form.
#[track_caller]
fn assert_found(test: fn(bool), message: &str) {
    test(true);
    let found = explore().run(move || test(true));
    assert_eq!(found.findings.first().map(|finding| finding.kind), Some(FindingKind::Breaks), "{found}");
    assert!(found.to_string().contains(message), "{found}");
    // In these fakes, a request is refused before it is carried out.
    explore().accept_unchecked().run(move || test(false)).assert_none();
}

/// The body of a request is a stream, and a clone of the request shares it.
#[derive(Clone)]
struct Upload(Rc<RefCell<Vec<u8>>>);

// Rule G8.
#[test]
fn a_body_that_is_empty_in_the_second_attempt_is_found() {
    fn upload(wrong: bool) {
        let received = Rc::new(RefCell::new(Vec::new()));
        let server = Rc::clone(&received);
        let service = service_fn(move |request: Upload| {
            let server = Rc::clone(&server);
            async move {
                let body = if wrong { request.0.take() } else { request.0.borrow().clone() };
                sent()?;
                *server.borrow_mut() = body;
                Ok::<_, Failed>(())
            }
        });
        let request = Upload(Rc::new(RefCell::new(b"title".to_vec())));
        block_on(RetryLayer::with_handle(&STORE).layer(service).oneshot(request)).unwrap();
        assert_eq!(*received.borrow(), b"title");
    }
    assert_found(upload, "left: []");
}

// Rule G8.
#[test]
fn data_that_a_failed_attempt_took_out_of_a_buffer_are_found() {
    struct Writer {
        wrong: bool,
        buffered: Vec<u8>,
    }
    impl Writer {
        #[retryable(strategy = STORE, idempotent)]
        async fn close(&mut self, store: &RefCell<Vec<u8>>) -> Result<(), Failed> {
            let data = if self.wrong { std::mem::take(&mut self.buffered) } else { self.buffered.clone() };
            sent()?;
            *store.borrow_mut() = data;
            answered()?;
            self.buffered.clear();
            Ok(())
        }
    }
    fn write(wrong: bool) {
        let store = RefCell::default();
        block_on(Writer { wrong, buffered: b"data".to_vec() }.close(&store)).unwrap();
        assert_eq!(*store.borrow(), b"data");
    }
    assert_found(write, "left: []");
}

// Rule G8.
#[test]
fn a_request_that_is_repeated_after_a_lost_answer_is_found() {
    #[derive(Clone, Copy, PartialEq)]
    enum Method {
        Get,
        Post,
    }
    fn create(wrong: bool) {
        let created = Rc::new(RefCell::new(Vec::new()));
        let server = Rc::clone(&created);
        let service = service_fn(move |(method, name): (Method, &'static str)| {
            let server = Rc::clone(&server);
            async move {
                sent()?;
                if method == Method::Post {
                    server.borrow_mut().push(name);
                }
                answered()
            }
        });
        let policy = move |(method, _): &(Method, &'static str)| {
            StandardRetryPolicy::new().idempotent(wrong || *method == Method::Get)
        };
        let client = RetryLayer::with_handle(&STORE).policy_with(policy).layer(service);
        block_on(client.oneshot((Method::Post, "job"))).unwrap();
        assert_eq!(*created.borrow(), ["job"]);
    }
    assert_found(create, r#"left: ["job", "job"]"#);
}
