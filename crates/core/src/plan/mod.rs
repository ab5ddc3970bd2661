//! Plans: the measurements to make, as pure data, and the rules that build it.
//!
//! Settings (the user's request) become a [`Plan`] (cells, trials, seed, budget) through an
//! experiment; nothing here touches a file, a clock or the kernel.

mod as_text;
mod axes;
mod axis;
mod choice;
mod cpus;
mod expectation;
mod fio;
mod fio_job;
mod info;
mod job;
mod job_option;
mod kinds;
mod neighbour;
mod pace;
mod preset;
mod probe;
mod profile;
mod range;
mod rate;
mod remote;
mod setting_error;
mod setting_text;
mod settings;
mod stop;
mod target;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod trial_time;
mod until;
mod variant;
mod variant_name;
mod work;

pub use axes::target_name;
pub use axis::Axis;
pub use choice::{Backends, Choice, ChoiceError};
pub use cpus::CpuList;
pub use expectation::{Condition, Expect, Expectation, ExpectedBy, Metric, unknown_profile};
pub use fio::{Fio, FioEngine, FioOption, FioValue};
pub use fio_job::{foreign_backend, foreign_engine};
pub use info::{DataPath, DefaultFor, Depth, HUES, Identity, Info, Moves, Opt, OptValue, Shape};
pub use job::Job;
pub use job_option::{JobOption, JobValue, target_values};
pub(crate) use kinds::names;
pub use kinds::{
    Cache, Cold, CpuCache, FilePer, Layout, MeasureCeilings, Op, Opened, Pattern, Sync, Unknown,
    Writes, is_near, nearest, shifted,
};
pub use neighbour::Neighbour;
pub use pace::PacedAmount;
pub use preset::{Broken, Names, PRESETS, Part, Preset, PresetError, Presets, Resolved, preset};
pub use probe::{
    Group, Param, ProbeCell, ProbeInfo, ProbeParam, ProbeSet, check_sets, find_probes, set_of,
    set_values, sets_of,
};
pub use profile::{PROFILES, Profile, Profiles};
pub use range::{Range, RangeError, RangeOf};
pub use rate::{Arrival, Rate, Rates};
pub use remote::Remote;
pub use setting_error::SettingError;
pub use settings::{Setting, Settings, ValueKind};
pub use stop::StopCondition;
pub use target::{ListedFile, TargetSpec};
pub use trial_time::TrialTime;
pub use until::Until;
pub use variant::Variant;
pub use variant_name::{VariantError, VariantName};
pub use work::{Fresh, Plan, Skipped};
