//! The settings of the user completed by the presets, merged once for a plan.

use super::{Op, Preset, Settings};

/// The settings of a plan.
#[derive(Debug, Clone)]
pub struct Resolved<'a> {
    /// The settings of the user alone.
    pub user: &'a Settings,
    pub presets: &'a [Preset],
    /// The settings that a plan has once, such as its budget: of the user, else of the first
    /// preset that has them.
    pub whole: Settings,
    /// One per sweep of each preset, in order.
    pub parts: Vec<Part<'a>>,
}

/// One sweep of a preset, with the settings of the user.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    pub preset: &'a Preset,
    pub settings: Settings,
}

impl<'a> Resolved<'a> {
    pub fn new(user: &'a Settings, presets: &'a [Preset]) -> Resolved<'a> {
        let whole = presets.iter().fold(user.clone(), |whole, preset| whole.or(&preset.settings));
        let parts = presets.iter().flat_map(|preset| {
            let parts = preset.parts().into_iter();
            parts.map(move |part| Part { preset, settings: merge(user, preset, &part) })
        });
        Resolved { user, presets, whole, parts: parts.collect() }
    }
}

/// Merges the settings of the user with a part of a preset. For a preset that reads and writes,
/// `writes` and `sync` apply to its writes only.
fn merge(user: &Settings, preset: &Preset, part: &Settings) -> Settings {
    let mut settings = user.clone().or(part);
    if !preset.sweeps.is_empty() && settings.op != Some(Op::Write) {
        settings.sync = part.sync.clone().filter(|_| part.op != Some(Op::Write));
        settings.writes = None;
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Sync, Writes, preset};

    #[test]
    fn settings_for_writes_do_not_apply_to_the_reads_of_a_preset() {
        let presets = [preset("basics").unwrap()];
        let user = Settings {
            writes: Some(vec![Writes::Append]),
            sync: Some(vec![Sync::End]),
            ..Settings::default()
        };
        let resolved = Resolved::new(&user, &presets);
        assert!(resolved.parts.len() > 1);
        for part in &resolved.parts {
            let writes = part.settings.op == Some(Op::Write);
            assert_eq!(part.settings.writes.is_some(), writes, "{:?}", part.settings);
            assert_eq!(part.settings.sync == Some(vec![Sync::End]), writes, "{:?}", part.settings);
        }
    }

    #[test]
    fn the_user_comes_before_presets_and_the_first_preset_before_others() {
        let presets = ["quick", "syscalls"].map(|id| preset(id).unwrap());
        let first = Resolved::new(&presets[1].settings, &presets).whole;
        assert_eq!(first.budget, presets[1].settings.budget.or(presets[0].settings.budget));
        let none = Settings::default();
        assert_eq!(Resolved::new(&none, &presets).parts[0].preset.id, "quick");
        assert!(Resolved::new(&none, &[]).parts.is_empty());
    }
}
