use std::collections::HashSet;

use super::*;

#[test]
fn keys_are_unique_on_each_screen() {
    for binding in KEYMAP {
        assert!(!binding.keys.is_empty() && !binding.help.is_empty());
        for key in binding.keys {
            assert!(Key::parse(key).is_some(), "{key}");
        }
    }
    for screen in Screen::ALL.iter().chain([&Compare]) {
        let mut seen = HashSet::new();
        for binding in on(*screen) {
            for key in binding.keys {
                assert!(seen.insert(*key), "{key} twice on {screen:?}");
            }
        }
    }
}

#[test]
fn keys_mean_one_thing_everywhere() {
    let on = |key: &str, screen| action(Key::parse(key).unwrap(), screen);
    assert_eq!(on("r", Setup), Some(Action::Run));
    assert_eq!(on("space", Live), Some(Action::Pause));
    assert_eq!(on("space", Setup), Some(Action::Toggle));
    assert_eq!(on("x", Live), Some(Action::Stop));
    let meanings = |key: &str| -> HashSet<Action> {
        Screen::ALL.iter().chain([&Compare]).filter_map(|screen| on(key, *screen)).collect()
    };
    for (key, meant) in [
        ("x", &[Action::Stop][..]),
        ("s", &[Action::Skip]),
        ("R", &[Action::Refine]),
        ("+", &[Action::ZoomIn]),
        ("w", &[Action::SaveAs, Action::Rename]),
        ("f2", &[Action::SaveAs, Action::Rename]),
    ] {
        assert_eq!(meanings(key), meant.iter().copied().collect(), "{key}");
    }
    assert_eq!(on("f1", Host), Some(Action::Help));
    assert_eq!(on("c", Sessions), Some(Action::Compare));
    assert_eq!(
        (on("r", Lab), on("space", Lab), on("c", Lab)),
        (Some(Action::Run), Some(Action::Toggle), Some(Action::Compare))
    );
    assert_eq!(
        (on("x", Lab), on("s", Lab), on("p", Lab)),
        (Some(Action::Stop), Some(Action::Skip), Some(Action::Preset))
    );
    for screen in [Results, Sessions, Compare, Lab] {
        assert_eq!((on("e", screen), on("y", screen)), (Some(Action::Export), Some(Action::Copy)));
    }
}
