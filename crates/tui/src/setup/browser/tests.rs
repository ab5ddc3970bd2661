//! The browser's rows, listings and looks.

use super::*;

pub fn entry(dir: &str, name: &str, kind: EntryKind, size: u64) -> FolderEntry {
    FolderEntry { path: Path::new(dir).join(name), name: name.into(), kind, size, readable: true }
}

fn browser() -> Browser {
    let mut browser = Browser::new("/data".into());
    browser.loading = Some("/data".into());
    let names = [
        ("sub", EntryKind::Folder, 0),
        (".hidden", EntryKind::File, 5),
        ("a.bin", EntryKind::File, 7),
        ("empty", EntryKind::File, 0),
    ];
    let result =
        Ok(names.iter().map(|(name, kind, size)| entry("/data", name, *kind, *size)).collect());
    assert!(browser.accept_listing(Listing {
        dir: "/data".into(),
        file_system: FileSystem::default(),
        result
    }));
    browser
}

#[test]
fn rows_follow_filter_and_hidden_files() {
    let mut browser = browser();
    assert_eq!(
        browser.rows,
        [
            BrowserRow::Scratch,
            BrowserRow::Parent,
            BrowserRow::Entry(0),
            BrowserRow::Entry(2),
            BrowserRow::Entry(3)
        ]
    );
    browser.hidden = true;
    browser.build_rows();
    assert_eq!(browser.rows.len(), 6);
    browser.filter = Some(Input::new("BIN".into()));
    browser.build_rows();
    assert_eq!(browser.rows, [BrowserRow::Entry(2)]);
    assert_eq!(browser.file(), Some(Path::new("/data/a.bin")));
    browser.filter = Some(Input::new("nothing".into()));
    browser.build_rows();
    assert_eq!((browser.row(), browser.file()), (None, None));
}

#[test]
fn late_listings_change_nothing() {
    let mut browser = browser();
    let late =
        Listing { dir: "/slow".into(), file_system: FileSystem::default(), result: Ok(Vec::new()) };
    assert!(!browser.accept_listing(late) && browser.entries.len() == 4);
    browser.loading = Some("/gone".into());
    let error = Listing {
        dir: "/gone".into(),
        file_system: FileSystem::default(),
        result: Err("/gone: no such folder".into()),
    };
    assert!(
        browser.accept_listing(error)
            && browser.dir == Path::new("/data")
            && browser.error.is_some()
    );
}

#[test]
fn going_up_selects_the_folder_left() {
    let mut browser = browser();
    browser.loading = Some("/".into());
    let result =
        Ok(vec![entry("/", "bin", EntryKind::Folder, 0), entry("/", "data", EntryKind::Folder, 0)]);
    browser.accept_listing(Listing { dir: "/".into(), file_system: FileSystem::default(), result });
    assert_eq!(browser.row().and_then(|row| browser.folder(row)), Some(Path::new("/data")));
}

#[test]
fn recent_targets_are_few_and_ordered() {
    let mut browser = browser();
    for n in 0..12 {
        browser.add_recent(Path::new(&format!("/x/{n}")));
    }
    browser.add_recent(Path::new("/x/5"));
    assert_eq!(browser.recent.len(), MAX_RECENT);
    assert_eq!(browser.recent[..2], [PathBuf::from("/x/5"), "/x/11".into()]);
    assert_eq!(
        browser.rows[1..5],
        [BrowserRow::Recent(0), BrowserRow::Recent(1), BrowserRow::Recent(2), BrowserRow::Parent]
    );
}

#[test]
fn files_are_inspected_once() {
    let mut browser = browser();
    assert_eq!(browser.next_inspection(), None);
    browser.cursor = 3;
    assert_eq!(browser.next_inspection(), Some("/data/a.bin".into()));
    assert_eq!(browser.next_inspection(), None);
    browser
        .accept_inspection(Inspection { path: "/data/a.bin".into(), result: Err("gone".into()) });
    assert_eq!(browser.next_inspection(), None);
    browser.cursor = 4;
    assert!(browser.objection().unwrap().contains("empty"));
    assert_eq!(browser.next_inspection(), None);
}
