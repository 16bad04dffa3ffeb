//! Reading the body of a response as part of its attempt.

use hyper::body::{Body as _, Bytes, Frame, SizeHint};
use reqwest::{Body, Error, Response, ResponseBuilderExt};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The bodies to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bodies {
    /// The number of bytes up to which a body is read.
    pub(super) limit: usize,
    /// Whether a body of unknown length is read.
    pub(super) unknown: bool,
}

impl Bodies {
    /// Returns the response with its body read, if the settings ask for it. If the body turns out to be longer than the
    /// limit, the rest is not read.
    ///
    /// # Errors
    ///
    /// Returns an error if the body broke, or was too slow for the timeouts of the client.
    pub(super) async fn read(self, response: Response) -> Result<Response, Error> {
        let Self { limit, unknown } = self;
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        if response.content_length().map_or(!unknown, |length| length > limit) {
            return Ok(response);
        }
        let url = url(&response);
        let (mut head, mut rest) = http::Response::<Body>::from(response).into_parts();
        let (mut frames, mut length) = (VecDeque::new(), 0);
        let rest = loop {
            let Some(frame) = poll_fn(|context| Pin::new(&mut rest).poll_frame(context)).await else { break None };
            let frame = frame?;
            length += size(&frame);
            frames.push_back(frame);
            if length > limit {
                break Some(rest);
            }
        };
        head.extensions.extend(url);
        Ok(http::Response::from_parts(head, Body::wrap(Replay { frames, rest })).into())
    }
}

/// Returns the URL in the form that a response of the crate `http` stores. That form is private to reqwest.
fn url(response: &Response) -> http::Extensions {
    let (url, ()) = http::Response::builder().url(response.url().clone()).body(()).unwrap_or_default().into_parts();
    url.extensions
}

fn size(frame: &Frame<Bytes>) -> u64 {
    frame.data_ref().map_or(0, |data| data.len() as u64)
}

/// A body of which the beginning, or all, has been read.
struct Replay {
    frames: VecDeque<Frame<Bytes>>,
    rest: Option<Body>,
}

impl hyper::body::Body for Replay {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Self { frames, rest } = self.get_mut();
        if let Some(frame) = frames.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        let Some(body) = rest else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if frame.is_none() {
            *rest = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.as_ref().is_none_or(hyper::body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let read: u64 = self.frames.iter().map(size).sum();
        let Some(rest) = &self.rest else { return SizeHint::with_exact(read) };
        let rest = rest.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint.set_lower(rest.lower().saturating_add(read));
        hint
    }
}
