//! Statistics on plain slices.
