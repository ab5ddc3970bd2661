//! All screens in a large size, and what colours other themes have there.

use super::*;
use crate::compare;

/// Every screen, and Compare.
fn all() -> Vec<(&'static str, Stage)> {
    let compare = ("Compare", compare::tests::stage(&compare::tests::three()));
    stages().into_iter().chain([compare]).collect()
}

#[test]
fn a_large_size_is_filled() {
    for (name, mut stage) in all() {
        stage.tell(Msg::Resize(200, 60));
        let name = format!("{}_200x60", name.to_lowercase());
        insta::assert_snapshot!(name, stage.picture(200, 60));
    }
}

#[test]
fn screens_name_no_command_line_options() {
    for (name, mut stage) in all().into_iter().filter(|(name, _)| *name == "Compare") {
        stage.tell(Msg::Resize(200, 60)).keys("< >");
        assert!(!stage.picture(200, 60).contains("--save"), "{name}");
    }
    // Settings that differ are named as on Setup.
    let [before, mut after, _] = compare::tests::three();
    (after.plan.trials, after.plan.compressible) = (Some(7), Some(50));
    let mut stage = compare::tests::stage(&[before, after]);
    for keys in ["", "< >"] {
        let picture = stage.keys(keys).picture(200, 60);
        assert!(picture.contains("Trials") && !picture.contains(" --"), "{picture}");
    }
}

/// The number of cells of each colour: what changes by a role that a theme gives another one.
#[test]
fn themes_and_no_colours() {
    for (theme, colours) in [
        ("paper", Colours::True),
        ("ember", Colours::TwoFiftySix),
        ("contrast", Colours::True),
        ("default", Colours::None),
    ] {
        let mut text = String::new();
        for (name, mut stage) in all() {
            stage.model.look.colours = colours;
            stage.model.use_theme(theme);
            text += &format!("{name}\n{}", stage.styles(120, 40));
        }
        insta::assert_snapshot!(format!("colours_{theme}"), text);
    }
}
