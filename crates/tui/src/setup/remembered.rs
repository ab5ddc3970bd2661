//! Choices that Setup remembers from one start of the program to the next.

use std::path::Path;

use super::browser::Browser;
use super::rows::WRITES;
use super::state::{Given, Setup};
use crate::msg::Effect;
use crate::plan::{Preset, Settings};
use crate::remember::Remembered;
use crate::theme::Look;

impl Setup {
    /// Applies the choices of the last start; `here` is the folder to show.
    pub fn with_remembered(mut self, remembered: &Remembered, here: &Path, fresh: bool) -> Setup {
        let parent = self
            .file
            .as_deref()
            .and_then(Path::parent)
            .map(|parent| here.join(parent).components().collect());
        self.browser = Browser::new(parent.unwrap_or_else(|| here.into()));
        self.browser.start = here.into();
        self.browser.recent.clone_from(&remembered.recent);
        self.browser.last_folder.clone_from(&remembered.folder);
        self.browser.build_rows();
        self.log_y = remembered.log_y;
        if fresh {
            self.settings = remembered.settings.clone();
            if self.file.is_some() {
                // A file on the command line is there to be read.
                ["op"].iter().chain(&WRITES).for_each(|name| self.settings.unset(name));
            }
        }
        self.given = Some(Given {
            preset: self.preset.clone(),
            settings: self.settings.clone(),
            remembered_preset: remembered.preset.clone(),
            remembered: remembered.settings.clone(),
        });
        self
    }

    /// Remembers the current choices for the next start.
    pub fn remember(&self, presets: &[Preset], look: &Look) -> Effect {
        let (preset, mut settings) = self.choices_to_remember(presets);
        if settings.text("backend").is_some_and(|text| text.is_empty()) {
            settings.unset("backend");
        }
        Effect::Remember(Box::new(Remembered {
            preset,
            settings,
            recent: self.browser.recent.clone(),
            theme: Some(look.theme.id.clone()),
            folder: Some(self.browser.dir.clone()),
            log_y: self.log_y,
        }))
    }

    /// Returns the preset and the settings to remember: the remembered ones with the changes made
    /// on the screen.
    fn choices_to_remember(&self, presets: &[Preset]) -> (Option<String>, Settings) {
        if let Some(given) = self.given.as_ref().filter(|given| given.preset == self.preset) {
            let mut settings = given.remembered.clone();
            for setting in Settings::ALL {
                let now = setting.text(&self.settings);
                match &now {
                    now if *now == setting.text(&given.settings) => {}
                    Some(text) => drop(settings.set(setting.name, text)),
                    None => settings.unset(setting.name),
                }
            }
            return (given.remembered_preset.clone(), settings);
        }
        // A preset that is not listed cannot be found again, so its settings are remembered.
        if presets.contains(&self.preset) {
            (Some(self.preset.id.clone()), self.settings.clone())
        } else {
            (None, self.settings.clone().or(&self.preset.settings))
        }
    }
}
