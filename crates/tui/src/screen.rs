//! The screens.

/// The screens, in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Screen {
    Setup,
    Live,
    Results,
    Sessions,
    Lab,
    Host,
    /// Opened from Sessions; it has no key.
    Compare,
}

impl Screen {
    /// Screens with a key.
    pub const ALL: &'static [Screen] = &[
        Screen::Setup,
        Screen::Live,
        Screen::Results,
        Screen::Sessions,
        Screen::Lab,
        Screen::Host,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Screen::Setup => "Setup",
            Screen::Live => "Live",
            Screen::Results => "Results",
            Screen::Sessions => "Sessions",
            Screen::Lab => "Lab",
            Screen::Host => "Host",
            Screen::Compare => "Compare",
        }
    }
}
