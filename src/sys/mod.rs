//! Kernel facts and calls.
