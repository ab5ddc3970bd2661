//! Charts: what a terminal cell can show of a curve.
