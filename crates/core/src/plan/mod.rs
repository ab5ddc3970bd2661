//! What to measure: pure data and the rules that build it.
//!
//! Settings (the user's request) become a [`Plan`] (cells, trials, seed, budget) through an
//! experiment; nothing here touches a file, a clock or the kernel.

mod axes;
mod axis;
mod backends;
mod choice;
mod expectation;
mod fio;
mod fio_job;
mod info;
mod job;
mod job_option;
mod kinds;
mod nanos;
mod nearest;
mod path;
mod preset;
mod presets;
mod probe;
mod probe_info;
mod probe_param;
mod profile;
mod range;
mod remote;
mod resolved;
mod setting_error;
mod setting_text;
mod settings;
mod shift;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod trial_time;
mod value_kind;
mod variant;
mod work;

pub use axes::target_name;
pub use axis::Axis;
pub use backends::Backends;
pub use choice::{Choice, ChoiceError};
pub use expectation::{Condition, Expect, Expectation, ExpectedBy, Metric, unknown_profile};
pub use fio::{Fio, FioEngine, FioOption, FioValue};
pub use fio_job::{foreign_backend, foreign_engine};
pub use info::{DataPath, DefaultFor, Depth, Info, Moves, Opt, OptValue};
pub use job::Job;
pub use job_option::{JobOption, JobValue, target_values};
pub(crate) use kinds::names;
pub use kinds::{
    Cache, Cold, CpuCache, FilePer, Layout, MeasureCeilings, Op, Pattern, Sync, Writes,
};
pub use nearest::{Unknown, nearest};
pub use preset::{Names, PRESETS, Preset, PresetError, preset};
pub use presets::{Broken, Presets};
pub use probe::{Param, ProbeCell};
pub use probe_info::{Group, ProbeInfo, find_probes};
pub use probe_param::{ProbeParam, ProbeSet, check_sets, set_of, set_values, sets_of};
pub use profile::{PROFILES, Profile, Profiles};
pub use range::{Range, RangeError, RangeOf};
pub use remote::Remote;
pub use resolved::{Part, Resolved};
pub use setting_error::SettingError;
pub use settings::{Setting, Settings};
pub use shift::shifted;
pub use trial_time::TrialTime;
pub use value_kind::ValueKind;
pub use variant::{Variant, VariantError, VariantName};
pub use work::{Fresh, Plan, Skipped, TargetSpec};
