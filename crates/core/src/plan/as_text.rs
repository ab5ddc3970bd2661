//! The types of a plan that are stored as texts.

use super::{Choice, Condition, CpuList, Pattern, Remote, StopCondition, VariantName};

/// Stores types as the text that they are displayed as.
macro_rules! as_text {
    ($($type:ident: $parse:path),+ $(,)?) => { $(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $parse(&<String as serde::Deserialize>::deserialize(from)?).map_err(serde::de::Error::custom)
            }
        }
    )+ };
}

as_text! {
    Choice: Choice::parse,
    Condition: str::parse,
    CpuList: str::parse,
    Pattern: str::parse,
    Remote: str::parse,
    StopCondition: str::parse,
    VariantName: str::parse,
}
