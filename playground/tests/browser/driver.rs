//! Chromium, driven through `WebDriver`.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use ureq::Agent;

/// The key of an element's id in the protocol `WebDriver`.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser, which ends with this value.
pub(crate) struct Browser {
    driver: Child,
    agent: Agent,
    session: String,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let mut driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let port = line.split_once("started successfully on port ")?.1.trim_end_matches('.');
            Some(port.parse::<u16>().unwrap())
        });
        let address = format!("http://127.0.0.1:{}/session", port.expect("chromedriver prints its port"));
        // The driver must not block on a full pipe.
        thread::spawn(move || lines.for_each(drop));
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_mins(2)))
            .build()
            .new_agent();
        let mut browser = Self { driver, agent, session: address };
        // Chromium's own sandbox does not work for root, nor in most containers. The page is this repository's.
        let arguments = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.post("", &capabilities);
        browser.session = format!("{}/{}", browser.session, session["sessionId"].as_str().unwrap());
        browser
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        let mut response = self.agent.post(format!("{}{command}", self.session)).send_json(body).unwrap();
        let mut answer: Value = response.body_mut().with_config().limit(100 << 20).read_json().unwrap();
        assert!(response.status().is_success(), "{command} {body}: {answer}");
        answer["value"].take()
    }

    pub(crate) fn open(&self, address: &str) {
        self.post("/url", &json!({ "url": address }));
    }

    pub(crate) fn reload(&self) {
        self.post("/refresh", &json!({}));
    }

    /// Runs the body of a function in the page, and returns its value.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Presses keys in a field of the form.
    pub(crate) fn press(&self, field: &str, keys: &str) {
        self.type_into(&format!("[name={field}]"), keys);
    }

    /// Presses keys in an element.
    pub(crate) fn type_into(&self, selector: &str, keys: &str) {
        self.on(selector, "value", &json!({ "text": keys }));
    }

    pub(crate) fn click(&self, selector: &str) {
        self.on(selector, "click", &json!({}));
    }

    fn on(&self, selector: &str, command: &str, body: &Value) {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        let element = found[ELEMENT].as_str().unwrap();
        self.post(&format!("/element/{element}/{command}"), body);
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Gives the window a width, and the reader a colour scheme.
    pub(crate) fn emulate(&self, width: u32, scheme: &str) {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", &media);
        let size = json!({ "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Returns a picture of the whole page as PNG.
    pub(crate) fn screenshot(&self) -> Vec<u8> {
        let taken = self.devtools("Page.captureScreenshot", &json!({ "captureBeyondViewport": true }));
        decoded(taken["data"].as_str().unwrap())
    }

    /// Returns the messages of the console since the last call.
    pub(crate) fn console(&self) -> Value {
        self.post("/se/log", &json!({ "type": "browser" }))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Decodes base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b'=').map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits =
            four.iter().enumerate().fold(0_u32, |bits, (index, &digit)| bits | u32::from(digit) << (26 - 6 * index));
        bits.to_be_bytes().into_iter().take(four.len() * 6 / 8)
    });
    bytes.collect()
}
