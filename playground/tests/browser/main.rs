//! The book in Chromium, over HTTP. Its playground computes, follows its controls, and shows what the native build computes, digit by
//! digit. `.ci/book` builds the book and runs this.

#![cfg(not(target_arch = "wasm32"))]

mod book;
mod driver;
mod files;

use driver::Browser;
use playground::answer;
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::time::{Duration, Instant};

/// What the page shows, and the fields of its form.
const SHOWN: &str = "
const form = document.querySelector('#simulation form');
const picture = (id) => document.getElementById(id).innerHTML;
const text = (id) => document.getElementById(id).textContent;
return {
    form: Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.value])),
    texts: { toml: text('toml'), rust: text('rust') },
    timeline: { svg: picture('timeline') },
    copy: { svg: picture('copy'), sentence: text('copy-sentence') },
    outage: { svg: picture('outage'), sentence: text('outage-sentence') },
};";

const ARROW_UP: &str = "\u{e013}";
const DELETE_ALL: &str = "\u{e009}a\u{e000}\u{e017}";

/// Waits until the page has computed everything, if it computes.
fn settle(browser: &Browser) {
    let begun = Instant::now();
    let is_busy = "return document.querySelector('#simulation[aria-busy=true]') !== null";
    while browser.run(is_busy).as_bool().unwrap() {
        assert!(begun.elapsed() < Duration::from_mins(1), "the page is still busy: {}", browser.run(SHOWN));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the page has computed everything, and returns what it shows.
fn settled(browser: &Browser) -> Value {
    settle(browser);
    browser.run(SHOWN)
}

/// Compares what the page shows with the native build. The libraries for `ln`, `cos`, `powf` and `cbrt` are others there, so their last
/// bits may differ. What is compared is what is displayed: all digits and coordinates of the pictures, and all texts.
fn assert_is_native(browser: &Browser, shown: &Value) {
    let form = shown["form"].to_string();
    for part in ["texts", "timeline", "copy", "outage"] {
        let mut native: Value = serde_json::from_str(&answer(part, &form)).unwrap();
        if let Some(picture) = native.get_mut("svg") {
            assert_ne!(picture, "", "{part} of {form}");
            // A browser writes elements of a page in another way.
            *picture = browser.run(&format!(
                "const page = document.createElement('template'); page.innerHTML = {picture}; return page.innerHTML"
            ));
        }
        assert_eq!(shown[part], native, "{part} of {form}");
    }
}

/// Serves the built book, and returns its address.
fn served() -> String {
    files::serve(env::var("BOOK").expect("BOOK is the directory of the built book").into())
}

/// Opens a page of the built book, and returns the browser.
fn opened(page: &str) -> Browser {
    let browser = Browser::start();
    browser.open(&format!("{}{page}", served()));
    browser
}

/// Checks that a page fits into narrow and wide windows, in which pictures, tables and programs scroll. With `BOOK_SCREENSHOTS`, pictures
/// of the page in both colour schemes are written to that directory.
fn assert_fits(browser: &Browser, name: &str) {
    let screenshots = env::var("BOOK_SCREENSHOTS");
    for (width, scheme) in [(400, "light"), (1400, "light"), (400, "dark"), (1400, "dark")] {
        if scheme == "dark" && screenshots.is_err() {
            break;
        }
        browser.emulate(width, scheme);
        browser.reload();
        settle(browser);
        // The content scrolls by itself.
        let overflow = "
            const parts = [document.documentElement, document.querySelector('#mdbook-content')];
            return parts.map((part) => part.scrollWidth - part.clientWidth)";
        assert_eq!(browser.run(overflow), json!([0, 0]), "{name} at a width of {width}");
        if let Ok(directory) = &screenshots {
            fs::write(format!("{directory}/{name}-{width}-{scheme}.png"), browser.screenshot()).unwrap();
        }
    }
}

// Rule B8. The browser's build has pointers of 32 bits.
#[test]
#[ignore = "needs the built book and Chromium: .ci/book"]
fn the_playground_shows_what_the_library_does() {
    let (browser, address) = (Browser::start(), served());
    let begun = Instant::now();
    browser.open(&format!("{address}playground/README.html"));
    let first = settled(&browser);
    println!("the page is complete {} ms after its address was entered", begun.elapsed().as_millis());
    assert_eq!(first["form"]["attempts"], "10", "the numbers of the patient strategy are filled in");
    assert_is_native(&browser, &first);

    // The controls, by keyboard.
    let mut before = first.clone();
    for (field, keys) in [
        ("outage", ARROW_UP),
        ("strategy", "paced"),
        ("attempts", ARROW_UP),
        ("preset", "aws_2_1"),
        ("base", ARROW_UP),
        ("strategy", "adaptive"),
        ("preset", "default"),
        ("quota", ARROW_UP),
        ("load", ARROW_UP),
        ("workers", ARROW_UP),
        ("limit", ARROW_UP),
        ("strategy", "standard"),
        ("limit", &format!("{DELETE_ALL}300")),
        ("load", &format!("{DELETE_ALL}95")),
        ("outage", &format!("{DELETE_ALL}30")),
    ] {
        let begun = Instant::now();
        browser.press(field, keys);
        let shown = settled(&browser);
        println!("{field}: complete after {} ms", begun.elapsed().as_millis());
        assert_ne!(shown["form"], before["form"], "{field}");
        assert_ne!(shown["outage"]["svg"].as_str().map(str::len), Some(0));
        assert_is_native(&browser, &shown);
        before = shown;
    }

    // A field that is invalid has a message, and the pictures stay.
    browser.press("attempts", DELETE_ALL);
    let invalid = settled(&browser);
    let message = "return document.getElementById(document.querySelector('#simulation form').elements.attempts.getAttribute('aria-describedby')).textContent";
    assert_eq!(browser.run(message), "expected a whole number from 1 to 20");
    assert_eq!(invalid["outage"]["svg"], before["outage"]["svg"]);
    browser.press("attempts", "3");
    assert_is_native(&browser, &settled(&browser));
    assert_eq!(browser.run("return document.querySelectorAll('.expected').length"), 0);

    // Of many changes in a row, the last one counts.
    browser.run(
        "const load = document.querySelector('#simulation form').elements.load;
         for (let value = 30; value < 60; value += 1) { load.value = value; load.dispatchEvent(new Event('input', { bubbles: true })); }",
    );
    let last = settled(&browser);
    assert_eq!(last["form"]["load"], "59");
    assert_is_native(&browser, &last);

    assert_fits(&browser, "playground");
    assert_eq!(browser.console(), json!([]), "the console of the browser");
}
