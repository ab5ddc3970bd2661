//! `--anonymous`: no output format reveals the host, the user, a folder or a file.

use crate::common::{stderr_of, stdout_of};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::common::{Home, QUICK, is_root, names, output, skip};
use iotui::report::FORMATS;

/// Sets a different host name for the command, if permitted.
fn on_host(command: &mut Command, name: &'static str) {
    // SAFETY: between fork and exec it makes only two system calls, on memory that lives as long as
    // the program.
    unsafe {
        command.pre_exec(move || {
            if libc::unshare(libc::CLONE_NEWUTS) == 0 {
                libc::sethostname(name.as_ptr().cast(), name.len());
            }
            Ok(())
        });
    }
}

/// Returns the words that may not appear, in lower case.
fn secrets(home: &Home) -> Vec<String> {
    let unique =
        home.home().parent().unwrap().file_name().unwrap().to_string_lossy().to_lowercase();
    let host = nix::unistd::gethostname().unwrap().to_string_lossy().to_lowercase();
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid())
        .ok()
        .flatten()
        .map(|user| user.name.to_lowercase());
    // Short names and `root` are parts of other words.
    let telling = |name: &String| name.len() > 5;
    ["secret".to_string(), unique]
        .into_iter()
        .chain([host].into_iter().chain(user).filter(telling))
        .collect()
}

/// Returns what it wrote to stdout and, if requested, to the file of `-o`.
fn run(home: &Home, line: &str) -> String {
    let mut command = home.std(line);
    command.env("USER", "secretuser").env("LOGNAME", "secretuser");
    on_host(&mut command, "secrethost");
    let ran = output(&mut command);
    assert_eq!(ran.status.code(), Some(0), "{line}: {}", stderr_of(&ran));
    let file = std::fs::read_to_string(home.path("out")).unwrap_or_default();
    stdout_of(&ran) + &file
}

fn telling(home: &Home, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    secrets(home).into_iter().filter(|secret| text.contains(secret)).collect()
}

#[test]
fn anonymous_formats_hide_host_and_user() {
    let home = Home::new();
    let dir = home.home().join(".config/iotui/presets");
    std::fs::create_dir_all(&dir).unwrap();
    let preset = "about = \"secret\"\ndoc = \"\"\nexperiment = \"sweep\"\n[settings]\nbackend = \"read,mmap,uring\"\nblock-size = \"4k\"\n";
    std::fs::write(dir.join("secretpreset.toml"), preset).unwrap();
    std::fs::create_dir(home.path("secretfolder")).unwrap();
    let file = home.file("secretfolder/secretfile.bin", 1 << 20).display().to_string();
    // A block larger than the span is skipped, and reported with the reason.
    let plan = format!(
        "--batch -p secretpreset -b read,mmap,uring,seek -s 4k,4m {QUICK} --save secretname"
    );
    for format in FORMATS.iter().filter(|format| !format.binary).map(|format| format.id) {
        for what in [
            file.as_str(),
            "--dir secretfolder --size 1m",
            "-o out secretfolder/secretfile.bin",
            "--dry-run secretfolder/secretfile.bin",
        ] {
            if what.starts_with("--dry-run") && format != "json" && format != "table" {
                continue;
            }
            let line = format!("{plan} --format {format} {what}");
            let text = run(&home, &format!("{line} --anonymous"));
            assert!(text.len() > 100, "{line}: {text}");
            assert_eq!(telling(&home, &text), Vec::<String>::new(), "{line}:\n{text}");
        }
    }
    // Without `--anonymous` they are shown, so this test would detect them.
    let named = telling(&home, &run(&home, &format!("{plan} --format json {file}")));
    assert!(named.len() > 1, "{named:?}");
    let named = run(&home, &format!("{plan} --format gbench {file}"));
    if is_root() {
        assert!(named.contains("secrethost"), "{named}")
    } else {
        skip("no host name of our own")
    }
}

#[test]
fn anonymous_session_cannot_be_repeated() {
    let home = Home::new();
    std::fs::create_dir(home.path("secretfolder")).unwrap();
    let file = home.file("secretfolder/secretfile.bin", 1 << 20).display().to_string();
    for (name, what) in [("shared", file.as_str()), ("scratch", "--dir secretfolder --size 1m")] {
        let line = format!("--batch -b read -s 4k {QUICK} --save {name} --anonymous {what}");
        run(&home, &line);
        let read = |file: String| std::fs::read_to_string(home.sessions_dir().join(file)).unwrap();
        let mut all = names(&home.sessions_dir()).into_iter().map(read);
        let text = all.find(|text| text.contains(&format!("\"name\":\"{name}\""))).unwrap();
        assert!(text.lines().count() > 3 && telling(&home, &text).is_empty(), "{text}");
        for again in ["--plan", "--refine", "--baseline"] {
            let ran = output(&mut home.std(&format!("--batch {again} {name}")));
            let printed = stderr_of(&ran);
            assert!(
                ran.status.code() != Some(0) && printed.contains("anonymous"),
                "{again}: {printed}"
            );
        }
    }
    // On a file that is named, its cells can be measured again.
    run(&home, &format!("--batch --plan shared --no-save {file}"));
}

#[test]
fn anonymous_comparison_hides_names() {
    let home = Home::new();
    std::fs::create_dir(home.path("secretfolder")).unwrap();
    let file = home.file("secretfolder/secretfile.bin", 1 << 20).display().to_string();
    let other = home.file("secretfolder/secretother.bin", 1 << 20).display().to_string();
    for (name, file) in [("secretone", &file), ("secrettwo", &other)] {
        run(&home, &format!("--batch -b read -s 4k {QUICK} --save {name} {file}"));
    }
    for format in iotui::report::COMPARISONS.iter().map(|format| format.id) {
        let line = format!("sessions compare secretone secrettwo --format {format}");
        let (shown, hidden) = (run(&home, &line), run(&home, &format!("{line} --anonymous")));
        assert!(shown.contains("secretone") && shown.contains("secretother"), "{shown}");
        assert_eq!(telling(&home, &hidden), Vec::<String>::new(), "{line}:\n{hidden}");
    }
}
