//! A request to a task, and its response.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The server's side of a request. If it is dropped, no response ever comes.
pub struct Request<T>(Rc<RefCell<Exchange<T>>>);

/// The client's side of a request: a future that is ready when the server has responded. If the client drops it, the
/// server continues.
pub struct Response<T>(Rc<RefCell<Exchange<T>>>);

struct Exchange<T> {
    response: Option<T>,
    waker: Option<Waker>,
}

/// Creates the two sides of a request.
pub fn request<T>() -> (Request<T>, Response<T>) {
    let exchange = Rc::new(RefCell::new(Exchange { response: None, waker: None }));
    (Request(Rc::clone(&exchange)), Response(exchange))
}

impl<T> Request<T> {
    /// Sends the response.
    pub fn respond(self, response: T) {
        let mut exchange = self.0.borrow_mut();
        exchange.response = Some(response);
        let waker = exchange.waker.take();
        drop(exchange);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Response<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut exchange = self.0.borrow_mut();
        if let Some(response) = exchange.response.take() {
            return Poll::Ready(response);
        }
        exchange.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
