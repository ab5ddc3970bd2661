use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub median: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub mean: f64,
    pub stddev: f64,
    pub min: f64,
    pub max: f64,
}
