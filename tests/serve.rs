//! `iotui serve` as a program: who may start it and how, what it does for probes of another
//! process, and how it ends.

use crate::common::stderr_of;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{self, Home, each, output};
use nix::sys::signal::Signal;
use serde_json::Value;

const SECRET: &str = "the secret of these tests";
const SOON: Duration = Duration::from_secs(2);
const FEW: &str = "--trials 2 --trial-time 1ms --no-save";

/// A listening server and its address.
struct Far {
    run: Run,
    address: String,
}

/// Builds an iotui command with these arguments, run by another program with its `prefix`.
fn within(home: &Home, prefix: &[&str], line: &str) -> Command {
    let own = home.std(line);
    let mut words =
        prefix.iter().map(AsRef::as_ref).chain([own.get_program()]).chain(own.get_args());
    let mut command = Command::new(words.next().unwrap());
    command.args(words).current_dir(home.path("")).env_clear();
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// A run that takes some seconds.
const LONG: &str = "--batch --probe connect --trials 60 --trial-time 1ms --no-save --format jsonl";

/// Asserts that the run ends by itself: the peer's cells failed with one line each, and the others
/// are complete.
fn fails_the_peer_only(mut run: Run) {
    let text = run.rest();
    let status = run.end(SOON).expect("it ends");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results: Vec<Value> = lines.filter(|line| line["kind"] == "result").collect();
    let (far, near): (Vec<&Value>, Vec<&Value>) =
        results.iter().partition(|result| result["cell"]["to"] == "remote");
    assert!(!far.is_empty() && !near.is_empty(), "{text}");
    fn has_error(result: &&Value) -> bool {
        result["error"].as_str().is_some_and(|why| !why.is_empty() && !why.contains('\n'))
    }
    assert!(
        far.iter().all(has_error) && near.iter().all(|result| result["error"].is_null()),
        "{results:#?}"
    );
    assert_eq!(status.code(), Some(1), "{}", run.stderr());
}

impl Far {
    /// Starts the server; `prefix` comes before the program, to run it elsewhere.
    fn start(home: &Home, prefix: &[&str], options: &str, secret: bool) -> Far {
        let mut command = within(home, prefix, &format!("serve {options}"));
        if secret {
            command.env("IOTUI_SECRET", SECRET);
        }
        let mut run = Run::start(command.stderr(Stdio::piped()));
        let address = run.line().trim().to_string();
        assert!(address.contains(':'), "{address:?}: {}", run.stderr());
        Far { run, address }
    }

    fn stop(mut self, signal: Signal) -> (Option<i32>, String) {
        self.run.signal(signal);
        let status = self.run.end(SOON).expect("it stops");
        (status.code(), self.run.stderr())
    }
}

/// Measures to a peer and returns the document.
fn remote(home: &Home, far: &str, secret: bool, options: &str) -> Value {
    let mut command = home.cmd(&format!("--batch --remote {far} {FEW} --format json {options}"));
    if secret {
        command.env("IOTUI_SECRET", SECRET);
    }
    let output = command.assert().get_output().clone();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    // A peer that could not be measured is reported, and is a failure: it was named.
    let met = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .any(|result| result["cell"]["to"] == "remote");
    let stderr = stderr_of(&output);
    assert_eq!(
        (output.status.code(), stderr.contains("iotui: --remote: ")),
        (Some(i32::from(!met)), !met),
        "{stderr}"
    );
    document
}

fn is_remote(item: &&Value) -> bool {
    item["cell"]["to"] == "remote" && item["cell"]["ip"].is_null()
}

#[test]
fn server_answers_until_a_signal() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let home = Home::new();
        let far = Far::start(&home, &[], "--listen 127.0.0.1:0", true);
        if signal == Signal::SIGINT {
            let document = remote(&home, &far.address, true, "--probe rtt,connect,net-bandwidth");
            let results: Vec<&Value> =
                document["results"].as_array().unwrap().iter().filter(is_remote).collect();
            fn sound(result: &&Value) -> bool {
                result["error"].is_null()
                    && result["value"]["median"].as_f64().is_some_and(|value| value > 0.0)
            }
            if !common::has("ping") {
                common::without("ping");
            }
            fn by_ping(result: &&Value) -> bool {
                result["cell"]["by"] == "ping"
            }
            assert_eq!(
                results.iter().filter(|r| !by_ping(r)).filter(|r| sound(r)).count(),
                3 + 6 + 2,
                "{results:#?}"
            );
            assert_eq!(document["far"]["kernel"], document["host"]["kernel"]);
            assert!(!document["answer"]["network"]["shares"].as_array().unwrap().is_empty());
            assert_eq!(document["plan"]["remote"], far.address.as_str());
            assert!(!document.to_string().contains(SECRET));
        }
        // A client in the middle of an exchange does not delay it.
        let silent = TcpStream::connect(&far.address).unwrap();
        let (found, stderr) = far.stop(signal);
        assert_eq!(found, Some(code), "{stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains(SECRET), "{stderr}");
        drop(silent);
    }
}

#[test]
fn nobody_else_is_let_in() {
    let home = Home::new();
    let write = |name: &str, text: &str, mode: u32| {
        fs::write(home.path(name), text).unwrap();
        fs::set_permissions(home.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    write("short", "too short\n", 0o600);
    write("good", &format!("{SECRET}\n"), 0o600);
    write("seen", &format!("{SECRET}\n"), 0o644);
    write("plain", "aaaaaaaaaaaaaaaa\n", 0o600);
    home.stdout("--batch --probe clock --trials 1 --save local --quiet");
    for (line, wanted) in [
        ("serve --listen 0.0.0.0:0", "IOTUI_SECRET"),
        ("serve --listen [::]:0", "--secret-file"),
        ("serve --listen 0.0.0.0:0 --secret-file short", "fewer than 16"),
        ("serve --secret-file none", "No such file"),
        ("serve --secret-file seen", "written by others (mode 644); run chmod 600 on it"),
        ("serve --secret-file plain", "different characters"),
        ("serve --listen lab-7", "address"),
        ("serve --batch", "--batch"),
        ("--batch --probe rtt --secret-file short", "fewer than 16"),
        ("--batch --probe rtt --remote a/b", "HOST:PORT"),
        ("--batch --probe clock --remote 127.0.0.1 --no-save", "--probe network"),
        ("--batch --plan local --remote 127.0.0.1 --no-save", "--probe network"),
    ] {
        let output = output(&mut home.std(line));
        let stderr = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(wanted) && !stderr.contains("too short"), "{line}: {stderr}");
        assert!(output.stdout.is_empty(), "{line}");
    }
    // With a secret it serves clients that know it, from a file on both sides.
    let far = Far::start(&home, &[], "--listen 0.0.0.0:0 --secret-file good", false);
    let port = far.address.rsplit(':').next().unwrap().to_string();
    let line = format!("--probe connect --remote 127.0.0.1:{port}");
    let reasons = |options: &str, known: bool| {
        let document: Value = remote(&home, &format!("127.0.0.1:{port}"), known, options);
        let skipped = Value::Array(
            document["skipped"].as_array().unwrap().iter().filter(is_remote).cloned().collect(),
        );
        let reasons =
            each(&skipped, "reason").into_iter().map(|why| why.as_str().unwrap().to_string());
        reasons.collect::<Vec<String>>()
    };
    assert_eq!(reasons("--probe connect --secret-file good", false), [""; 0], "{line}");
    assert!(reasons("--probe connect", false)[0].contains("requires a secret"));
    write("other", "another secret of words", 0o600);
    assert!(
        reasons("--probe connect --secret-file other", false)[0]
            .contains("did not accept the secret")
    );
    let mut stranger = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    stranger
        .write_all(b"GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nUser-Agent: b\r\n\r\n")
        .unwrap();
    let _ = stranger.read_to_end(&mut Vec::new());
    assert!(reasons("--probe connect", true).is_empty(), "it goes on");
    let (_, stderr) = far.stop(Signal::SIGTERM);
    assert!(stderr.contains("wrong secret"), "{stderr}");
}

#[test]
fn taken_port_exits_with_1() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let output =
        output(&mut home.std(&format!("serve --quiet --listen {}", taken.local_addr().unwrap())));
    let stderr = stderr_of(&output);
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains("cannot listen on"), "{stderr}");
}

#[test]
fn loopback_is_measured_without_remote() {
    let home = Home::new();
    let document = home.json(&format!("--batch -p lab/network {FEW}"));
    let results = document["results"].as_array().unwrap();
    let ids = |id: &str| {
        results.iter().filter(|r| r["cell"]["probe"] == id && r["error"].is_null()).count()
    };
    assert!(ids("rtt") >= 3 && ids("net-bandwidth") >= 6 && ids("connect") >= 2, "{results:#?}");
    let skipped = document["skipped"].as_array().unwrap();
    let remote: Vec<&Value> = skipped.iter().filter(is_remote).collect();
    assert!(
        !remote.is_empty()
            && remote.iter().all(|s| s["reason"].as_str().unwrap().contains("--remote HOST"))
    );
    // The report shows its figures next to local ones with the same parameters.
    let reported =
        results.iter().filter(|r| !r["reference"].as_array().unwrap().is_empty()).count();
    assert!(reported >= 4, "round trip, bandwidth, set-up and tear-down: {reported}");
    assert!(document["far"].is_null());
}

#[test]
fn missing_remote_keeps_local_results() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let document = remote(&home, &free, false, "--probe connect");
    let reasons: Vec<&Value> =
        document["skipped"].as_array().unwrap().iter().filter(is_remote).collect();
    assert!(
        reasons.len() == 2
            && reasons.iter().all(|s| s["reason"].as_str().unwrap().contains("refused")),
        "{reasons:?}"
    );
    assert!(document["results"].as_array().unwrap().len() >= 2);
}

/// Starts a fake server that sends `says` to every client; returns its address.
fn posing(says: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Never joined: it ends with the tests.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let says = says.clone();
            std::thread::spawn(move || {
                let mut stream = stream;
                let _ = stream.write_all(&says);
                // Reads the client's bytes, so that the connection is not reset.
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
    address
}

#[test]
fn false_server_is_refused() {
    let home = Home::new();
    fn challenge(secret: u8) -> Vec<u8> {
        [&b"iotui\0\0\x02"[..], &[secret], &[7; 16 + 32]].concat()
    }
    for (says, wanted) in [
        (
            b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nServer: a\r\n\r\n".to_vec(),
            "does not speak the protocol",
        ),
        (vec![0xff; 1000], "does not speak the protocol"),
        (vec![], "closed the connection without replying"),
        ([challenge(1), vec![1], vec![0; 32]].concat(), "does not know the secret"),
        ([challenge(1), vec![0]].concat(), "did not accept the secret"),
        (challenge(0), "requires no secret"),
        (challenge(9), "invalid message"),
    ] {
        // Exit 1 and a message on stderr.
        let document = remote(&home, &posing(says), true, "--probe connect");
        let reasons: Vec<&Value> =
            document["skipped"].as_array().unwrap().iter().filter(is_remote).collect();
        assert!(
            !reasons.is_empty()
                && reasons.iter().all(|s| s["reason"].as_str().unwrap().contains(wanted)),
            "{wanted}: {reasons:?}"
        );
        assert!(document["results"].as_array().unwrap().len() >= 2, "the loopback is measured");
    }
}

#[test]
fn lost_remote_fails_its_cells() {
    let home = Home::new();
    let far = Far::start(&home, &[], "--listen 127.0.0.1:0", false);
    let mut run =
        Run::start(home.std(&format!("{LONG} --remote {}", far.address)).stderr(Stdio::piped()));
    run.until(r#""to":"remote""#);
    assert_eq!(far.stop(Signal::SIGKILL).0, None);
    fails_the_peer_only(run);
}

/// Two network namespaces connected by a virtual wire; both are removed on drop.
struct Wired {
    here: String,
    there: String,
}

fn ip(words: &str) -> bool {
    Command::new("ip")
        .args(words.split_whitespace())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Wired {
    /// Creates them; returns `None` and prints why if `ip` or root is missing.
    fn new() -> Option<Wired> {
        let [here, there] =
            ["here", "there"].map(|side| format!("iotui-{}-{side}", std::process::id()));
        let wired = Wired { here, there };
        let Wired { here, there } = &wired;
        let link = format!("link add wire netns {here} type veth peer name wire netns {there}");
        let mut lines = vec![format!("netns add {here}"), format!("netns add {there}"), link];
        for (side, last) in [(here, 1), (there, 2)] {
            lines.push(format!("-n {side} addr add 10.77.0.{last}/24 dev wire"));
            // Without duplicate address detection the address is usable at once.
            lines.push(format!("-n {side} addr add fd77::{last}/64 dev wire nodad"));
            lines.extend(["lo", "wire"].map(|device| format!("-n {side} link set {device} up")));
        }
        if !ip("-V") {
            common::without("ip");
            return None;
        }
        if let Some(failed) = lines.iter().find(|line| !ip(line)) {
            common::skip(&format!("two network namespaces cannot be had here: ip {failed}"));
            return None;
        }
        Some(wired)
    }

    fn enter(name: &str) -> [&str; 4] {
        ["ip", "netns", "exec", name]
    }
}

impl Drop for Wired {
    fn drop(&mut self) {
        for name in [&self.here, &self.there] {
            ip(&format!("netns del {name}"));
        }
    }
}

/// Two network namespaces on a wire, and a server on the far one.
struct Pair {
    home: Home,
    wired: Wired,
    port: String,
}

impl Pair {
    /// Builds an iotui command on the near side.
    fn inside(&self, line: &str) -> Command {
        let mut command = within(&self.home, &Wired::enter(&self.wired.here), line);
        command.env("IOTUI_SECRET", SECRET);
        command
    }

    fn measure(&self, host: &str, options: &str) -> Value {
        let output = output(
            &mut self
                .inside(&format!("--batch --remote {host}:{} --format json {options}", self.port)),
        );
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let met = document["results"]
            .as_array()
            .unwrap()
            .iter()
            .any(|result| result["cell"]["to"] == "remote");
        assert_eq!(output.status.code(), Some(i32::from(!met)), "{}", stderr_of(&output));
        document
    }

    /// Asserts that the network's share is computed for the named address, and that cells that need
    /// the other address say so.
    fn has_shares(&self, host: &str, ip: &Value) {
        let document = self.measure(
            host,
            &format!("-p lab/network {FEW} --save wired")
                .replace("--no-save ", "")
                .replace("--no-save", ""),
        );
        let results = document["results"].as_array().unwrap();
        let far: Vec<&Value> = results
            .iter()
            .filter(|r| r["cell"]["to"] == "remote" && r["cell"]["ip"] == *ip)
            .collect();
        let measured =
            far.iter().filter(|r| r["error"].is_null() && r["cell"]["by"] != "ping").count();
        assert_eq!(measured, if ip.is_null() { 3 + 6 + 2 } else { 1 + 1 + 2 }, "{host}: {far:#?}");
        let shares = each(&document["answer"]["network"]["shares"], "network");
        assert!(!shares.is_empty() && shares.iter().all(|share| share.is_f64()), "{shares:?}");
        let skipped = document["skipped"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|s| s["cell"]["to"] == "remote" && s["cell"]["by"] != "ping");
        assert!(
            skipped.clone().count() > 0
                && skipped.clone().all(|s| s["reason"].as_str().unwrap().contains("address"))
        );
    }

    /// Asserts that the session runs again to the same peer, without revealing its identity.
    fn runs_again_and_hides_the_peer(&self) {
        let again = self.measure("10.77.0.2", "--plan wired --trials 1 --no-save");
        assert!(
            again["results"]
                .as_array()
                .unwrap()
                .iter()
                .any(|r| r["cell"]["to"] == "remote" && r["error"].is_null())
        );
        for format in ["json", "html", "markdown", "table"] {
            let shown = self.home.stdout(&format!("sessions show wired --format {format}"));
            assert!(shown.contains("10.77.0.2") || format != "json", "{format}");
            // Both machines: that of the probes, and the other.
            let machines = shown.matches("Linux ").count();
            // Where the link is as fast as the loopback, no share is left.
            let shares =
                ["network&#39;s share", "network's share", "No difference between a round"];
            let share = shares.iter().any(|text| shown.contains(text));
            assert!(format == "json" || machines >= 2 && share, "{format}: {shown}");
            let hidden =
                self.home.stdout(&format!("sessions show wired --anonymous --format {format}"));
            assert!(!hidden.contains("10.77.0.2") && !hidden.contains("fd77::2"), "{format}");
            if format == "json" {
                let hidden: Value = serde_json::from_str(&hidden).unwrap();
                assert_eq!(
                    (&hidden["far"]["name"], &hidden["far"]["kernel"]),
                    (&"".into(), &again["far"]["kernel"])
                );
            }
        }
    }

    /// Asserts that a wire cut during a run fails the peer's cells and delays nothing.
    fn survives_a_cut_wire(&self) {
        let mut run = Run::start(
            self.inside(&format!("{LONG} --remote 10.77.0.2:{}", self.port)).stderr(Stdio::piped()),
        );
        run.until(r#""to":"remote""#);
        assert!(ip(&format!("-n {} link set wire down", self.wired.there)));
        fails_the_peer_only(run);
        assert!(ip(&format!("-n {} link set wire up", self.wired.there)));
    }
}

#[test]
fn remote_shows_network_time() {
    let Some(wired) = Wired::new() else { return };
    let home = Home::new();
    let far = Far::start(&home, &Wired::enter(&wired.there), "--listen [::]:0", true);
    let port = far.address.rsplit(':').next().unwrap().to_string();
    let pair = Pair { home, wired, port };
    pair.has_shares("10.77.0.2", &Value::Null);
    pair.has_shares("[fd77::2]", &Value::from(6));
    pair.runs_again_and_hides_the_peer();
    pair.survives_a_cut_wire();
    let (code, stderr) = far.stop(Signal::SIGINT);
    assert_eq!(code, Some(130), "{stderr}");
    let gone = pair.measure("10.77.0.2", &format!("--probe connect {FEW}"));
    let reasons: Vec<&Value> =
        gone["skipped"].as_array().unwrap().iter().filter(is_remote).collect();
    assert!(
        !reasons.is_empty()
            && reasons.iter().all(|s| s["reason"].as_str().unwrap().contains("10.77.0.2")),
        "{reasons:?}"
    );
}
