//! iotui measures how fast storage is, by which way and block size, and proves where the bytes came from.
#![deny(unsafe_code)]

pub mod app;
pub mod backend;
pub mod batch;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod experiment;
pub mod host;
pub mod plan;
pub mod record;
pub mod report;
pub mod session;
pub mod stats;
pub mod sys;
pub mod units;
