//! A headless Chromium, driven over two pipes: no port, only the kernel between test and page.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::child::{Run, ready};

/// Longer than any action of a page takes, even on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Names of its executable.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox", // tests run as root in containers; the page is our own
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-pipe",
];

pub struct Browser {
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    asked: u64,
    /// Events it sent, in order.
    pub events: Vec<Value>,
    run: Run,
    _profile: TempDir,
}

/// Duplicates the descriptor above 3 and 4, which the child uses.
fn high(fd: &OwnedFd) -> i32 {
    fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(10)).unwrap()
}

impl Browser {
    /// Starts it with an empty profile and one empty page; `None` if no working Chromium is
    /// installed.
    pub fn start() -> Option<Browser> {
        fn runs(name: &str) -> bool {
            let asked = Command::new(name)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            asked.is_ok_and(|status| status.success())
        }
        let program = NAMES.iter().find(|name| runs(name))?;
        let profile = tempfile::tempdir().unwrap();
        let ((from_us, to), (from, to_us)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let (from_us, to_us) = (OwnedFd::from(from_us), OwnedFd::from(to_us));
        let [read, write] = [&from_us, &to_us].map(high);
        let mut command = Command::new(program);
        command
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank");
        command.env("HOME", profile.path()).stderr(Stdio::null());
        // SAFETY: between fork and exec only dup2, which may be called there, on descriptors that
        // are open.
        unsafe {
            command.pre_exec(move || match (libc::dup2(read, 3), libc::dup2(write, 4)) {
                (3, 4) => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let run = Run::start(&mut command);
        for fd in [read, write] {
            nix::unistd::close(fd).unwrap();
        }
        let (to, from) =
            (File::from(OwnedFd::from(to)), BufReader::new(File::from(OwnedFd::from(from))));
        let mut browser = Browser {
            to,
            from,
            session: None,
            asked: 0,
            events: Vec::new(),
            run,
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.ask(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command and returns the reply; saves events that arrive before it.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.hear();
            if message["id"] == self.asked {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn hear(&mut self) -> Value {
        let mut text = Vec::new();
        let waits = self.from.buffer().is_empty();
        assert!(!waits || ready(self.from.get_ref(), PATIENCE), "the browser says nothing");
        self.from.read_until(0, &mut text).unwrap();
        assert_eq!(text.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&text).unwrap()
    }

    /// Waits for this event.
    fn until(&mut self, method: &str) {
        loop {
            let message = self.hear();
            let found = message["method"] == method;
            self.events.push(message);
            if found {
                return;
            }
        }
    }

    /// Returns the events of this name.
    pub fn events_of(&self, method: &str) -> Vec<&Value> {
        self.events
            .iter()
            .filter(|event| event["method"] == method)
            .map(|event| &event["params"])
            .collect()
    }

    /// Sets the window size and the colour scheme.
    pub fn window(&mut self, width: u32, height: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", features);
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, path: &Path) {
        let went =
            self.ask("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        assert!(went.get("errorText").is_none(), "{went}");
        self.until("Page.loadEventFired");
    }

    /// Evaluates an expression in the page; awaits a promise.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let got = self.ask("Runtime.evaluate", params);
        assert!(got.get("exceptionDetails").is_none(), "{expression}: {}", got["exceptionDetails"]);
        got["result"]["value"].clone()
    }

    fn mouse(&mut self, kind: &str, at: (f64, f64)) {
        let down = kind != "mouseMoved";
        let button = if down { "left" } else { "none" };
        let params = json!({ "type": kind, "x": at.0, "y": at.1, "button": button, "clickCount": u8::from(down) });
        self.ask("Input.dispatchMouseEvent", params);
    }

    /// Returns the centre of the first element that matches, after scrolling it into view.
    pub fn middle(&mut self, selector: &str) -> (f64, f64) {
        let at = self.eval(&format!(
            "(() => {{ const node = document.querySelector({}); node.scrollIntoView({{ block: 'center', inline: 'center' }}); \
             const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
    }

    pub fn point(&mut self, at: (f64, f64)) {
        self.mouse("mouseMoved", at);
    }

    pub fn click(&mut self, selector: &str) {
        let at = self.middle(selector);
        ["mouseMoved", "mousePressed", "mouseReleased"]
            .into_iter()
            .for_each(|kind| self.mouse(kind, at));
    }

    /// Presses and releases a key of that name.
    pub fn key(&mut self, name: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut params =
                json!({ "type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && !text.is_empty() {
                params["text"] = text.into();
            }
            self.ask("Input.dispatchKeyEvent", params);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closing it ends its helpers too; if it does not respond, it is killed along with `run`.
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.run.end(Duration::from_secs(10));
    }
}
