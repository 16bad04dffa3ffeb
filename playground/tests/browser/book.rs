//! The pages around the playground: the search, and the themes.

use super::{assert_fits, opened};
use crate::driver::Browser;
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

/// Waits until a script returns something other than null, and returns it.
fn awaited(browser: &Browser, script: &str) -> Value {
    let begun = Instant::now();
    loop {
        let value = browser.run(script);
        if !value.is_null() {
            return value;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "still null: {script}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs the built book and Chromium: .ci/book"]
fn a_search_finds_a_page() {
    let browser = opened("");
    browser.click("#mdbook-search-toggle");
    // The index is loaded now.
    awaited(&browser, "return document.querySelector('#mdbook-searchbar:not([disabled])') && window.search && true");
    browser.type_into("#mdbook-searchbar", "throttling");
    let link = "document.querySelector('#mdbook-searchresults a')";
    let address = awaited(&browser, &format!("return {link}?.href"));
    let marked = browser.run("return document.querySelectorAll('#mdbook-searchresults em').length");
    assert_ne!(marked, 0, "the results show the word");
    browser.open(address.as_str().unwrap());
    let found = awaited(&browser, "return document.querySelector('main mark')?.textContent.toLowerCase()");
    assert!(found.as_str().unwrap().starts_with("throttl"), "{found} at {address}");
    assert_eq!(browser.console(), json!([]), "the console of the browser");
}

#[test]
#[ignore = "needs the built book and Chromium: .ci/book"]
fn pictures_have_the_colours_of_the_theme() {
    let browser = opened("docs/performance.html");
    let colours = "
        const style = (element) => getComputedStyle(document.querySelector(element));
        return [style('.picture .back').fill, style('.picture .title').fill, style('html').backgroundColor]";
    let mut texts = Vec::new();
    browser.click("#mdbook-theme-toggle");
    for theme in ["light", "rust", "coal", "navy", "ayu"] {
        browser.click(&format!("#mdbook-theme-{theme}"));
        let shown = browser.run(colours);
        assert_eq!(shown[0], shown[2], "the background in the theme {theme}");
        assert_ne!(shown[0], shown[1], "the text in the theme {theme}");
        texts.push(shown[1].as_str().unwrap().to_owned());
    }
    assert_eq!(texts[0], texts[1], "both are light");
    assert!(texts[2..].iter().all(|text| *text == texts[2] && *text != texts[0]), "{texts:?}");
    assert_eq!(browser.run("return document.querySelectorAll('main img').length"), 0);
    assert_eq!(browser.console(), json!([]), "the console of the browser");
}

#[test]
#[ignore = "needs the built book and Chromium: .ci/book"]
fn pages_fit_into_windows() {
    let browser = opened("");
    let address = browser.run("return location.origin");
    for (page, name) in [
        ("", "start"),
        ("docs/performance.html", "performance"),
        ("docs/comparison.html", "comparison"),
        ("docs/semantics.html", "semantics"),
        ("lab/results/README.html", "results"),
    ] {
        browser.open(&format!("{}/{page}", address.as_str().unwrap()));
        assert_fits(&browser, name);
        assert_eq!(browser.console(), json!([]), "the console of the browser at {page}");
    }
}
