//! Synchronization primitives. Under `--cfg loom` they are loom's, with the same names, so that the tested code is the
//! shipped code. `Arc` is not among them, because loom's `Arc` does not support unsized types.

#[cfg(loom)]
pub(crate) use self::checked::{AtomicU8, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns a number of this thread. Threads that live at the same time have different numbers, unless there are very
/// many.
#[cfg(not(loom))]
#[inline]
pub(crate) fn thread_number() -> usize {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    static NEXT: AtomicUsize = AtomicUsize::new(1);
    thread_local! { static NUMBER: Cell<usize> = const { Cell::new(0) } }

    #[cold]
    fn first() -> usize {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        NUMBER.set(number);
        number
    }

    match NUMBER.get() {
        0 => first(),
        number => number,
    }
}

/// Returns a number of this thread of the model: 0 for the first one. The hash of loom's identifier is another one in each execution,
/// and loom can only search executions that repeat each other.
#[cfg(loom)]
pub(crate) fn thread_number() -> usize {
    let id = format!("{:?}", loom::thread::current().id());
    id.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap_or(0)
}

/// Wrappers with a `const` constructor around loom's types, which have none.
///
/// The loom type is created on first use, inside the model, and never dropped, because a `const fn` can't drop it. A
/// model that shares a wrapper between threads must use it once before. Formatting it with `Debug` is enough.
#[cfg(loom)]
mod checked {
    pub(crate) use loom::sync::MutexGuard;
    pub(crate) use loom::sync::atomic::Ordering;
    use std::fmt::{self, Debug, Formatter};
    use std::mem::ManuallyDrop;
    pub(crate) use std::sync::PoisonError;
    use std::sync::{LockResult, OnceLock};

    macro_rules! atomics {
        ($($name:ident: $value:ty),+) => {$(
            pub(crate) struct $name {
                initial: $value,
                atomic: ManuallyDrop<OnceLock<loom::sync::atomic::$name>>,
            }

            #[allow(dead_code, reason = "not every atomic needs every method")]
            impl $name {
                pub(crate) const fn new(initial: $value) -> Self {
                    Self { initial, atomic: ManuallyDrop::new(OnceLock::new()) }
                }

                fn get(&self) -> &loom::sync::atomic::$name {
                    self.atomic.get_or_init(|| loom::sync::atomic::$name::new(self.initial))
                }

                pub(crate) fn load(&self, order: Ordering) -> $value {
                    self.get().load(order)
                }

                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    self.get().store(value, order);
                }

                pub(crate) fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                    self.get().fetch_add(value, order)
                }

                pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                    self.get().swap(value, order)
                }

                pub(crate) fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    self.get().compare_exchange(current, new, success, failure)
                }

                pub(crate) fn fetch_update(
                    &self,
                    set: Ordering,
                    fetch: Ordering,
                    update: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    self.get().fetch_update(set, fetch, update)
                }
            }

            impl Debug for $name {
                fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                    let _ = self.get();
                    f.write_str(stringify!($name))
                }
            }
        )+};
    }

    atomics!(AtomicU8: u8, AtomicU32: u32, AtomicU64: u64);

    pub(crate) struct Mutex<T> {
        initial: ManuallyDrop<std::sync::Mutex<Option<T>>>,
        lock: ManuallyDrop<OnceLock<loom::sync::Mutex<T>>>,
    }

    impl<T> Mutex<T> {
        pub(crate) const fn new(initial: T) -> Self {
            let initial = ManuallyDrop::new(std::sync::Mutex::new(Some(initial)));
            Self { initial, lock: ManuallyDrop::new(OnceLock::new()) }
        }

        fn get(&self) -> &loom::sync::Mutex<T> {
            self.lock.get_or_init(|| {
                let initial = self.initial.lock().unwrap_or_else(PoisonError::into_inner).take();
                loom::sync::Mutex::new(initial.expect("it is taken once"))
            })
        }

        pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            self.get().lock()
        }
    }

    impl<T> Debug for Mutex<T> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            let _ = self.get();
            f.write_str("Mutex")
        }
    }
}
