//! What this machine and this target are, and what would disturb a measurement.

use serde::{Deserialize, Serialize};

/// What this machine is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    pub name: String,
    pub kernel: String,
}
