use std::sync::Arc;

use super::*;
use crate::report::FORMATS;
use crate::tui::testing;

fn export_of(path: &Path, format: &'static str) -> Export {
    Export {
        number: 1,
        what: What::Shown(Arc::new(testing::session())),
        format,
        path: path.to_str().unwrap().into(),
        anonymous: false,
        look: Look::default(),
        replace: false,
    }
}

#[test]
fn files_are_replaced_only_on_request() {
    let dir = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = dir.path().join(format!("{}.{}", format.id, format.extension));
        assert_eq!(export(&export_of(&path, format.id)), Outcome::Written(path.clone()));
        let written = fs::read(&path).unwrap();
        assert!(!written.is_empty());
        fs::write(&path, "mine").unwrap();
        let Outcome::Exists(over) = export(&export_of(&path, format.id)) else {
            panic!("{}", format.id)
        };
        assert!(over.path == path && over.detail.contains("4 B"), "{}", over.detail);
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(
            export(&Export { replace: true, ..export_of(&path, format.id) }),
            Outcome::Written(path.clone())
        );
        assert_eq!(fs::read(&path).unwrap(), written);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), FORMATS.len(), "nothing else is left");
}

#[test]
fn what_cannot_be_written_says_why() {
    let dir = tempfile::tempdir().unwrap();
    fn why(path: &Path) -> String {
        match export(&export_of(path, "json")) {
            Outcome::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }
    assert!(why(&dir.path().join("none/x.json")).contains("its folder does not exist"));
    assert!(why(dir.path()).contains("it is a folder; name a file in it"));
    let kernels = why(Path::new("/proc/iotui.json"));
    assert!(kernels.contains("cannot write /proc/iotui.json"), "{kernels}");
    assert!(!kernels.contains("os error"), "{kernels}");
    // A link that points nowhere is a file that somebody made.
    let link = dir.path().join("link.json");
    std::os::unix::fs::symlink("/nowhere/at/all", &link).unwrap();
    assert!(matches!(export(&export_of(&link, "json")), Outcome::Failed(_) | Outcome::Exists(_)));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn anonymous_exports_omit_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = testing::session();
    (session.host.name, session.name) = ("annas-laptop".into(), "annas run".into());
    for (anonymous, holds) in [(false, true), (true, false)] {
        let path = dir.path().join(format!("{anonymous}.json"));
        export(&Export {
            what: What::Shown(Arc::new(session.clone())),
            anonymous,
            ..export_of(&path, "json")
        });
        assert_eq!(fs::read_to_string(&path).unwrap().contains("annas"), holds);
    }
}

#[test]
fn paths_resolve_here_or_from_home() {
    assert_eq!(path_of("x.json"), env::current_dir().unwrap().join("x.json"));
    assert_eq!(path_of("/a/b.json"), Path::new("/a/b.json"));
    if let Some(home) = env::var_os("HOME") {
        assert_eq!(path_of("~/b.json"), Path::new(&home).join("b.json"));
    }
}
