//! What was said and the presets that fill its gaps, merged once for a plan.

use super::{Op, Preset, Settings};

/// The settings of a plan.
#[derive(Debug, Clone)]
pub struct Resolved<'a> {
    /// What was said, before a preset fills the gaps.
    pub said: &'a Settings,
    pub presets: &'a [Preset],
    /// What a plan has once, as its budget: what was said, else what the first preset says.
    pub whole: Settings,
    /// What is swept, one part after the other.
    pub parts: Vec<Part<'a>>,
}

/// What one sweep of a preset asks for.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    pub preset: &'a Preset,
    pub settings: Settings,
}

impl<'a> Resolved<'a> {
    pub fn new(said: &'a Settings, presets: &'a [Preset]) -> Resolved<'a> {
        let whole = presets.iter().fold(said.clone(), |whole, preset| whole.or(&preset.settings));
        let parts = presets.iter().flat_map(|preset| {
            let parts = preset.parts().into_iter();
            parts.map(move |part| Part { preset, settings: merge(said, preset, &part) })
        });
        Resolved { said, presets, whole, parts: parts.collect() }
    }
}

/// What was said over a part of a preset. Said of a preset that reads and writes, it is said of its
/// writes; and what it says of its writes is not of reads.
fn merge(said: &Settings, preset: &Preset, part: &Settings) -> Settings {
    let mut settings = said.clone().or(part);
    if !preset.sweeps.is_empty() && settings.op != Some(Op::Write) {
        settings.sync = part.sync.filter(|_| part.op != Some(Op::Write));
        settings.writes = None;
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Sync, Writes, preset};

    #[test]
    fn what_is_said_of_writes_is_not_of_the_reads_of_the_same_preset() {
        let presets = [preset("basics").unwrap()];
        let said = Settings {
            writes: Some(vec![Writes::Append]),
            sync: Some(Sync::End),
            ..Settings::default()
        };
        let resolved = Resolved::new(&said, &presets);
        assert!(resolved.parts.len() > 1);
        for part in &resolved.parts {
            let writes = part.settings.op == Some(Op::Write);
            assert_eq!(part.settings.writes.is_some(), writes, "{:?}", part.settings);
            assert_eq!(part.settings.sync == Some(Sync::End), writes, "{:?}", part.settings);
        }
    }

    #[test]
    fn what_is_said_comes_before_presets_and_the_first_preset_before_others() {
        let presets = ["quick", "calls"].map(|id| preset(id).unwrap());
        let first = Resolved::new(&presets[1].settings, &presets).whole;
        assert_eq!(first.budget, presets[1].settings.budget.or(presets[0].settings.budget));
        let none = Settings::default();
        assert_eq!(Resolved::new(&none, &presets).parts[0].preset.id, "quick");
        assert!(Resolved::new(&none, &[]).parts.is_empty());
    }
}
