//! Chooses the mutant that is active, in the copy of the sources that has all mutants. The driver writes this crate beside the copy.
#![feature(const_eval_select, core_intrinsics)]
#![allow(internal_features)]

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

/// The active mutant, [`NONE`], or [`UNKNOWN`].
static ACTIVE: AtomicU32 = AtomicU32::new(UNKNOWN);
const UNKNOWN: u32 = u32::MAX;
const NONE: u32 = u32::MAX - 1;

/// Where the numbers of the mutants are written that are reached, each one once, as four bytes.
static REACHED: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    std::env::var_os("MUTANTS_REACHED").map(|path| Mutex::new(File::create(path).expect("the file can be written")))
});
static IS_REACHED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

/// Returns whether this mutant is the active one. While constants are evaluated, none is.
#[inline]
pub const fn on(number: u32) -> bool {
    std::intrinsics::const_eval_select((number,), at_compile_time, at_run_time)
}

/// Returns a constant that is a reference: itself while constants are evaluated, and otherwise a new one.
pub const fn leaked<T: ?Sized + 'static>(constant: &'static T, leaked: fn() -> &'static T) -> &'static T {
    std::intrinsics::const_eval_select((constant, leaked), itself, new)
}

const fn itself<T: ?Sized + 'static>(constant: &'static T, _leaked: fn() -> &'static T) -> &'static T {
    constant
}

fn new<T: ?Sized + 'static>(_constant: &'static T, leaked: fn() -> &'static T) -> &'static T {
    leaked()
}

const fn at_compile_time(_number: u32) -> bool {
    false
}

#[inline]
fn at_run_time(number: u32) -> bool {
    let active = match ACTIVE.load(Ordering::Relaxed) {
        UNKNOWN => first(),
        active => active,
    };
    if active == NONE {
        reached(number);
    }
    active == number
}

#[cold]
fn first() -> u32 {
    let active = std::env::var("MUTANT").map_or(NONE, |number| number.parse().expect("MUTANT is a number"));
    ACTIVE.store(active, Ordering::Relaxed);
    active
}

fn reached(number: u32) {
    let is_reached = &IS_REACHED[number as usize];
    if !is_reached.load(Ordering::Relaxed)
        && !is_reached.swap(true, Ordering::Relaxed)
        && let Some(file) = &*REACHED
    {
        file.lock().expect("no panic").write_all(&number.to_le_bytes()).expect("the file can be written");
    }
}
