//! The kinds of values that settings have.

/// The kind of value that a setting has, from which the option's help, completion and the screen's
/// rows are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// On or off: given alone, or as `=yes` and `=no`.
    Switch,
    /// One of these names.
    OneOf(&'static [&'static str]),
    /// One of these names, or a value of this form.
    OneOfOr(&'static [&'static str], &'static str),
    /// Some of these names, separated by commas.
    SomeOf(&'static [&'static str]),
    /// A value of this form.
    Form(&'static str),
    /// Values of this form, one each time the option is given; in text separated by spaces.
    Forms(&'static str),
}

impl ValueKind {
    /// Returns the value as the help writes it, as in `read|write|seek`; `None` for a switch.
    pub fn placeholder(self) -> Option<String> {
        match self {
            ValueKind::Switch => None,
            ValueKind::OneOf(names) => Some(names.join("|")),
            ValueKind::OneOfOr(names, form) => Some(format!("{}|{form}", names.join("|"))),
            ValueKind::SomeOf(names) => Some(names.join(",")),
            ValueKind::Form(form) | ValueKind::Forms(form) => Some(form.into()),
        }
    }
}
