//! Small programs, each in a right and in a wrong form, with a test that asserts each effect and one that only unwraps.
//!
//! The wrong forms are mistakes around retries that tests without failures don't notice. They were written before the rules
//! of `explore` were tuned.

use super::{Failed, STORE, answered, block_on, sent};
use retry_core::test::invariant;
use retry_core::{Report, retry, retry_blocking, retryable};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Whether a program is in its wrong form, and whether its test asserts effects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) wrong: bool,
    pub(super) strong: bool,
}

pub(super) type Program = fn(Form);

/// Programs with a wrong and a right form.
pub(super) const PAIRS: [(&str, Program); 20] = [
    ("charge", charge),
    ("key", key),
    ("parts", parts),
    ("buffer", buffer),
    ("sequence", sequence),
    ("pages", pages),
    ("create", create),
    ("delete", delete),
    ("add", add),
    ("permit", permit),
    ("nested", nested),
    ("cursor", cursor),
    ("nonce", nonce),
    ("connection", connection),
    ("temporary", temporary),
    ("batch", batch),
    ("cache", cache),
    ("endless", endless),
    ("refund", refund),
    ("shared", shared),
];

/// Programs that are right.
pub(super) const RIGHT: [(&str, Program); 5] = [
    ("fallback", fallback),
    ("fallback_in_attempt", fallback_in_attempt),
    ("counted", counted),
    ("joined", joined),
    ("many", many),
];

/// A charge is not idempotent. Wrong: nothing says so.
fn charge(Form { wrong, strong }: Form) {
    let charges = RefCell::new(Vec::new());
    let call = retry_blocking(&STORE, || {
        sent()?;
        charges.borrow_mut().push(5);
        answered()
    });
    if wrong { call.run() } else { call.idempotent(false).run() }.unwrap();
    if strong {
        assert_eq!(*charges.borrow(), [5]);
    }
}

/// A key lets the server recognise a repetition. Wrong: each attempt has another key.
fn key(Form { wrong, strong }: Form) {
    let (orders, keys) = (RefCell::new(HashSet::new()), Cell::new(0));
    let new_key = || keys.replace(keys.get() + 1);
    let kept = new_key();
    let order = || {
        sent()?;
        orders.borrow_mut().insert(if wrong { new_key() } else { kept });
        answered()
    };
    retry_blocking(&STORE, order).run().unwrap();
    if strong {
        assert_eq!(orders.borrow().len(), 1);
    }
}

/// An upload in parts. Wrong: a failed attempt takes parts of the only iterator.
fn parts(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn upload(wrong: bool, all: &mut std::vec::IntoIter<u32>, server: &RefCell<Vec<u32>>) -> Result<(), Failed> {
        let mut begun = all.clone();
        let source = if wrong { all } else { &mut begun };
        let mut received = Vec::new();
        for part in source {
            sent()?;
            received.push(part);
        }
        *server.borrow_mut() = received;
        answered()
    }
    let server = RefCell::default();
    block_on(upload(wrong, &mut vec![1, 2, 3].into_iter(), &server)).unwrap();
    if strong {
        assert_eq!(*server.borrow(), [1, 2, 3]);
    }
}

/// A writer flushes its buffer. Wrong: it takes the data before they are sent.
fn buffer(Form { wrong, strong }: Form) {
    struct Writer {
        buffered: Vec<u32>,
        written: RefCell<Vec<u32>>,
    }
    impl Writer {
        #[retryable(strategy = STORE, idempotent = false)]
        async fn flush(&mut self, wrong: bool) -> Result<(), Failed> {
            let data = if wrong { std::mem::take(&mut self.buffered) } else { self.buffered.clone() };
            sent()?;
            self.written.borrow_mut().extend(data);
            self.buffered.clear();
            Ok(())
        }
    }
    let mut writer = Writer { buffered: vec![1, 2], written: RefCell::default() };
    block_on(writer.flush(wrong)).unwrap();
    if strong {
        assert_eq!(*writer.written.borrow(), [1, 2]);
    }
}

/// Messages are numbered without gaps. Wrong: a failed attempt takes a number.
fn sequence(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent = false)]
    async fn send(wrong: bool, latest: &Cell<u32>, server: &RefCell<Vec<u32>>) -> Result<(), Failed> {
        let number = latest.get() + 1;
        if wrong {
            latest.set(number);
        }
        sent()?;
        server.borrow_mut().push(number);
        latest.set(number);
        Ok(())
    }
    let (latest, server) = (Cell::new(0), RefCell::default());
    block_on(async {
        send(wrong, &latest, &server).await.unwrap();
        send(wrong, &latest, &server).await.unwrap();
    });
    if strong {
        assert_eq!(*server.borrow(), [1, 2]);
    }
}

/// A listing of two pages. Wrong: what an attempt collected before it failed is kept.
fn pages(Form { wrong, strong }: Form) {
    let mut found = Vec::new();
    let list = || {
        if !wrong {
            found.clear();
        }
        for page in [1, 2] {
            sent()?;
            found.push(page);
        }
        Ok::<_, Failed>(())
    };
    retry_blocking(&STORE, list).run().unwrap();
    if strong {
        assert_eq!(found, [1, 2]);
    }
}

/// An object that must not exist yet is created. Wrong: the object of an earlier attempt is a conflict.
fn create(Form { wrong, strong }: Form) {
    let (exists, mut attempts) = (Cell::new(false), 0);
    let create = || {
        attempts += 1;
        sent()?;
        let existed = exists.replace(true);
        answered()?;
        if existed && (wrong || attempts == 1) { Err(Failed::Refused) } else { Ok(()) }
    };
    retry_blocking(&STORE, create).run().unwrap();
    if strong {
        assert!(exists.get());
    }
}

/// An object is deleted. Wrong: it is missing in the second attempt, which is an error.
fn delete(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE)]
    async fn delete(wrong: bool, objects: &RefCell<HashSet<u32>>) -> Result<(), Failed> {
        sent()?;
        let existed = objects.borrow_mut().remove(&7);
        answered()?;
        if existed || !wrong { Ok(()) } else { Err(Failed::Refused) }
    }
    let objects = RefCell::new(HashSet::from([7, 8]));
    block_on(delete(wrong, &objects)).unwrap();
    if strong {
        assert_eq!(*objects.borrow(), HashSet::from([8]));
    }
}

/// A counter is increased. Wrong: by a relative change. Right: by a write that names the old value.
fn add(Form { wrong, strong }: Form) {
    let counter = Cell::new(1);
    let old = counter.get();
    let add = || {
        sent()?;
        counter.set(if wrong { counter.get() + 1 } else { old + 1 });
        answered()
    };
    retry_blocking(&STORE, add).run().unwrap();
    if strong {
        assert_eq!(counter.get(), 2);
    }
}

/// One permit guards a connection. Wrong: a failed attempt does not return it, and the next one waits for it forever.
fn permit(Form { wrong, strong }: Form) {
    let permits = tokio::sync::Semaphore::new(1);
    let fetch = async || {
        let permit = permits.acquire().await.map_err(|_| Failed::Refused)?;
        if wrong {
            permit.forget();
            sent()?;
            permits.add_permits(1);
        } else {
            sent()?;
        }
        Ok::<_, Failed>(1)
    };
    let fetched = block_on(retry(&STORE, fetch).run()).unwrap();
    if strong {
        assert_eq!((fetched, permits.available_permits()), (1, 1));
    }
}

/// A page and its parts. Wrong: both the page and each part are retried.
fn nested(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn part(number: u32) -> Result<u32, Failed> {
        sent()?;
        Ok(number)
    }
    async fn page() -> Result<u32, Failed> {
        Ok(part(1).await? + part(2).await?)
    }
    #[retryable(strategy = STORE, idempotent)]
    async fn retried_page() -> Result<u32, Failed> {
        page().await
    }
    let sum = if wrong { block_on(retried_page()) } else { block_on(page()) }.unwrap();
    if strong {
        assert_eq!(sum, 3);
    }
}

/// A queue is read by a cursor. Wrong: the cursor moves before the item has arrived.
fn cursor(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn next(wrong: bool, at: &mut usize) -> Result<u32, Failed> {
        const ITEMS: [u32; 4] = [10, 20, 30, 40];
        let index = *at;
        if wrong {
            *at = index + 1;
        }
        sent()?;
        *at = index + 1;
        Ok(ITEMS[index])
    }
    let mut at = 0;
    let items = block_on(async { [next(wrong, &mut at).await.unwrap(), next(wrong, &mut at).await.unwrap()] });
    if strong {
        assert_eq!(items, [10, 20]);
    }
}

/// The server takes each nonce once. Wrong: all attempts share one.
fn nonce(Form { wrong, strong }: Form) {
    let (seen, latest) = (RefCell::new(HashSet::new()), Cell::new(0));
    let fetch = || {
        if !wrong {
            latest.set(latest.get() + 1);
        }
        sent()?;
        if !seen.borrow_mut().insert(latest.get()) {
            return Err(Failed::Refused);
        }
        answered()?;
        Ok(1)
    };
    let fetched = retry_blocking(&STORE, fetch).run().unwrap();
    if strong {
        assert_eq!(fetched, 1);
    }
}

/// A failure breaks a connection. Wrong: the next attempt uses it again.
fn connection(Form { wrong, strong }: Form) {
    let broken = Cell::new(false);
    let fetch = || {
        if broken.get() && !wrong {
            broken.set(false);
        }
        if broken.get() {
            return Err(Failed::Refused);
        }
        sent().inspect_err(|_| broken.set(true))?;
        Ok(1)
    };
    let fetched = retry_blocking(&STORE, fetch).run().unwrap();
    if strong {
        assert_eq!(fetched, 1);
    }
}

/// An attempt uses a temporary file. Wrong: a failed attempt leaves it behind.
fn temporary(Form { wrong, strong }: Form) {
    let files = Rc::new(RefCell::new(Vec::new()));
    if strong {
        let files = Rc::clone(&files);
        invariant(move || assert!(files.borrow().is_empty(), "a file is left"));
    }
    let download = || {
        files.borrow_mut().push("temporary");
        let downloaded = sent();
        if downloaded.is_ok() || !wrong {
            files.borrow_mut().pop();
        }
        downloaded
    };
    retry_blocking(&STORE, download).run().unwrap();
}

/// A batch of three. Wrong: all are appended again after one failed.
fn batch(Form { wrong, strong }: Form) {
    let (mut open, mut server) = (vec![1, 2, 3], Vec::new());
    let append = || {
        let mut rest = open.clone();
        while let Some(item) = rest.first().copied() {
            sent()?;
            server.push(item);
            rest.remove(0);
            if !wrong {
                open.remove(0);
            }
        }
        Ok::<_, Failed>(())
    };
    retry_blocking(&STORE, append).idempotent(false).run().unwrap();
    if strong {
        assert_eq!(server, [1, 2, 3]);
    }
}

/// A cache. Wrong: its entry is made before the value has arrived, and the next attempt takes it for the value.
fn cache(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn get(wrong: bool, cache: &RefCell<HashMap<u32, u32>>) -> Result<u32, Failed> {
        if let Some(value) = cache.borrow().get(&1) {
            return Ok(*value);
        }
        if wrong {
            cache.borrow_mut().insert(1, 0);
        }
        sent()?;
        cache.borrow_mut().insert(1, 9);
        Ok(9)
    }
    let cache = RefCell::default();
    let value = block_on(get(wrong, &cache)).unwrap();
    if strong {
        assert_eq!(value, 9);
    }
}

/// A poll. Wrong: a loop around the retried call that never gives up.
fn endless(Form { wrong, strong }: Form) {
    let poll = || retry_blocking(&STORE, || sent().map(|()| 1)).run();
    let mut polled = poll();
    while wrong && polled.is_err() {
        polled = poll();
    }
    if strong {
        assert_eq!(polled, Ok(1));
    }
    polled.unwrap();
}

/// A transfer of money from one account to another. Wrong: nothing is given back if the second half fails.
fn refund(Form { wrong, strong }: Form) {
    let accounts = Rc::new(RefCell::new([10, 0]));
    if strong {
        let accounts = Rc::clone(&accounts);
        invariant(move || assert_eq!(accounts.borrow().iter().sum::<i32>(), 10));
    }
    accounts.borrow_mut()[0] -= 5;
    let deposit = || {
        sent()?;
        accounts.borrow_mut()[1] += 5;
        Ok::<_, Failed>(())
    };
    let deposited = retry_blocking(&STORE, deposit).run();
    if deposited.is_err() && !wrong {
        accounts.borrow_mut()[0] += 5;
    }
    deposited.unwrap();
    if strong {
        assert_eq!(*accounts.borrow(), [5, 5]);
    }
}

/// Two calls at the same time. Wrong: they share the place in which an attempt prepares its request.
fn shared(Form { wrong, strong }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn put(wrong: bool, value: u32, slot: &Cell<u32>, server: &RefCell<Vec<u32>>) -> Result<(), Failed> {
        if slot.get() == 0 || !wrong {
            slot.set(value);
        }
        sent()?;
        server.borrow_mut().push(slot.replace(0));
        Ok(())
    }
    let (slot, server) = (Cell::new(0), RefCell::default());
    let (first, second) =
        block_on(async { tokio::join!(put(wrong, 1, &slot, &server), put(wrong, 2, &slot, &server)) });
    first.and(second).unwrap();
    if strong {
        server.borrow_mut().sort_unstable();
        assert_eq!(*server.borrow(), [1, 2]);
    }
}

/// After the first server gave up, another one is asked.
fn fallback(Form { strong, .. }: Form) {
    let ask = || retry_blocking(&STORE, || sent().map(|()| "value")).run();
    let value = ask().or_else(|_| ask()).unwrap();
    if strong {
        assert_eq!(value, "value");
    }
}

/// Within an attempt, another server is asked.
fn fallback_in_attempt(Form { strong, .. }: Form) {
    let ask = || sent().map(|()| "first").or_else(|_| sent().map(|()| "second"));
    let value = retry_blocking(&STORE, ask).run().unwrap();
    if strong {
        assert_eq!(value, "first");
    }
}

/// The number of attempts is a part of the asserted result.
fn counted(Form { strong, .. }: Form) {
    let Report { outcome, attempts, .. } = retry_blocking(&STORE, || sent().map(|()| 1)).report();
    outcome.unwrap();
    if strong {
        assert_eq!(attempts, 1);
    }
}

/// Three calls at the same time.
fn joined(Form { strong, .. }: Form) {
    #[retryable(strategy = STORE, idempotent)]
    async fn get(value: u32) -> Result<u32, Failed> {
        sent()?;
        tokio::task::yield_now().await;
        answered()?;
        Ok(value)
    }
    let (one, two, three) = block_on(async { tokio::join!(get(1), get(2), get(3)) });
    let sum = one.unwrap() + two.unwrap() + three.unwrap();
    if strong {
        assert_eq!(sum, 6);
    }
}

/// A loop over twelve items.
fn many(Form { strong, .. }: Form) {
    let mut sum = 0;
    for item in 0..12 {
        sum += retry_blocking(&STORE, || sent().map(|()| item)).run().unwrap();
    }
    if strong {
        assert_eq!(sum, 66);
    }
}
