//! Further programs, each in a right and in a wrong form, which were written after the rules of `explore` were frozen.

use super::corpus::{Form, Program};
use super::{Failed, STORE, answered, block_on, sent};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::test::invariant;
use retry_core::{retry, retry_blocking, retryable};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(super) const HELD_OUT: [(&str, Program); 12] = [
    ("swallowed", swallowed),
    ("policy", policy),
    ("progress", progress),
    ("checksum", checksum),
    ("flag", flag),
    ("budget", budget),
    ("complete", complete),
    ("ids", ids),
    ("layers", layers),
    ("stale", stale),
    ("rows", rows),
    ("detached", detached),
];

/// A write. Wrong: its failure is swallowed.
fn swallowed(Form { wrong, strong }: Form) {
    let stored = Cell::new(0);
    let put = || {
        let outcome = sent().inspect(|()| stored.set(7));
        if wrong { Ok(()) } else { outcome }
    };
    retry_blocking(&STORE, put).run().unwrap();
    if strong {
        assert_eq!(stored.get(), 7);
    }
}

/// A read. Wrong: its policy does not retry throttling.
fn policy(Form { wrong, strong }: Form) {
    let get = || sent().map(|()| 3);
    let got = if wrong {
        retry_blocking(&STORE, get).when(|error: &Failed| *error == Failed::NoAnswer).run()
    } else {
        retry_blocking(&STORE, get).run()
    };
    let got = got.unwrap();
    if strong {
        assert_eq!(got, 3);
    }
}

/// A copy with a progress bar. Wrong: a failed attempt has moved the bar.
fn progress(Form { wrong, strong }: Form) {
    let done = Cell::new(0);
    let before = done.get();
    let copy = || {
        for chunk in 1..=2 {
            done.set(if wrong { done.get() + 10 } else { before + chunk * 10 });
            sent()?;
        }
        Ok::<_, Failed>(())
    };
    retry_blocking(&STORE, copy).run().unwrap();
    if strong {
        assert_eq!(done.get(), 20);
    }
}

/// A checksum over a stream. Wrong: it includes what a failed attempt has read.
fn checksum(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn read(wrong: bool, sum: &mut u32) -> Result<(), Failed> {
        if !wrong {
            *sum = 0;
        }
        for part in [1, 2, 4] {
            *sum += part;
            sent()?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }
    let mut sum = 0;
    block_on(read(wrong, &mut sum)).unwrap();
    if strong {
        assert_eq!(sum, 7);
    }
}

/// A flag keeps two workers apart. Wrong: a failed attempt leaves it set, so the next one does nothing.
fn flag(Form { wrong, strong }: Form) {
    let (busy, effects) = (Cell::new(false), Cell::new(0));
    let work = || {
        if busy.replace(true) {
            return Ok(());
        }
        let outcome = sent();
        if outcome.is_ok() || !wrong {
            busy.set(false);
        }
        outcome?;
        effects.set(effects.get() + 1);
        Ok::<_, Failed>(())
    };
    retry_blocking(&STORE, work).run().unwrap();
    if strong {
        assert_eq!(effects.get(), 1);
    }
}

/// A budget of two requests. Wrong: a failed attempt is counted.
fn budget(Form { wrong, strong }: Form) {
    let left = Cell::new(2);
    let spend = async || {
        if wrong {
            if left.get() == 0 {
                return Err(Failed::Refused);
            }
            left.set(left.get() - 1);
            sent()?;
        } else {
            sent()?;
            left.set(left.get() - 1);
        }
        Ok(())
    };
    block_on(async {
        for _ in 0..2 {
            retry(&STORE, spend).run().await.unwrap();
        }
    });
    if strong {
        assert_eq!(left.get(), 0);
    }
}

/// An upload is completed. Wrong: that it is completed already is an error.
fn complete(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE)]
    async fn complete(wrong: bool, open: &Cell<bool>, objects: &Cell<u32>) -> Result<(), Failed> {
        sent()?;
        if !open.replace(false) {
            return if !wrong && objects.get() == 1 { Ok(()) } else { Err(Failed::Refused) };
        }
        objects.set(objects.get() + 1);
        answered()
    }
    let (open, objects) = (Cell::new(true), Cell::new(0));
    block_on(complete(wrong, &open, &objects)).unwrap();
    if strong {
        assert_eq!(objects.get(), 1);
    }
}

/// A record gets an id. Wrong: each attempt allocates one.
fn ids(Form { wrong, strong }: Form) {
    let (allocated, used) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let allocate = || {
        let id = allocated.borrow().len();
        allocated.borrow_mut().push(id);
        id
    };
    let mut kept = None;
    let attach = || {
        let id = if wrong { allocate() } else { *kept.get_or_insert_with(allocate) };
        sent()?;
        used.borrow_mut().push(id);
        Ok::<_, Failed>(())
    };
    retry_blocking(&STORE, attach).run().unwrap();
    if strong {
        assert_eq!(*allocated.borrow(), *used.borrow());
    }
}

/// A layer around a retried function. Wrong: the layer retries, too.
fn layers(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn connect() -> Result<u32, Failed> {
        sent()?;
        Ok(1)
    }
    let service = service_fn(|()| connect());
    let outcome = if wrong {
        block_on(RetryLayer::with_handle(&STORE).layer(service).oneshot(()))
    } else {
        block_on(service.oneshot(()))
    };
    let value = outcome.unwrap();
    if strong {
        assert_eq!(value, 1);
    }
}

/// Two versions are written at the same time. Wrong: a retry of the older one replaces the newer one.
fn stale(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn put(wrong: bool, version: u32, cell: &Cell<u32>) -> Result<(), Failed> {
        sent()?;
        if wrong || cell.get() < version {
            cell.set(version);
        }
        tokio::task::yield_now().await;
        answered()
    }
    let cell = Cell::new(0);
    let (first, second) = block_on(async { tokio::join!(put(wrong, 1, &cell), put(wrong, 2, &cell)) });
    first.and(second).unwrap();
    if strong {
        assert_eq!(cell.get(), 2);
    }
}

/// An order of two rows. Wrong: the first row stays when the second one gives up.
fn rows(Form { wrong, strong }: Form) {
    let rows = Rc::new(RefCell::new(Vec::new()));
    if strong {
        let rows = Rc::clone(&rows);
        invariant(move || assert!(rows.borrow().len() != 1, "half of an order"));
    }
    let write = |row: u32| {
        retry_blocking(&STORE, || {
            sent()?;
            rows.borrow_mut().push(row);
            Ok::<_, Failed>(())
        })
        .run()
    };
    let written = write(1).and_then(|()| write(2));
    if written.is_err() && !wrong {
        rows.borrow_mut().clear();
    }
    written.unwrap();
}

/// An attempt spawns a task. Wrong: the task of a failed attempt still writes.
fn detached(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn write(wrong: bool, server: Rc<RefCell<Vec<u32>>>) -> Result<(), Failed> {
        let task = {
            let server = Rc::clone(&server);
            tokio::task::spawn_local(async move {
                tokio::task::yield_now().await;
                server.borrow_mut().push(1);
            })
        };
        if let Err(error) = sent() {
            if !wrong {
                task.abort();
            }
            return Err(error);
        }
        task.await.unwrap();
        Ok(())
    }
    let server = Rc::new(RefCell::new(Vec::new()));
    let local = tokio::task::LocalSet::new();
    block_on(local.run_until(write(wrong, Rc::clone(&server)))).unwrap();
    if strong {
        assert_eq!(*server.borrow(), [1]);
    }
}
