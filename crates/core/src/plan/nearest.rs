//! "Unknown name, did you mean ...": one message for backends, presets, formats.

/// A name that is in no registry, with the nearest ones that are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} '{name}'{}", hint(.near, .all))]
pub struct Unknown {
    pub kind: &'static str,
    pub name: String,
    pub near: Vec<String>,
    pub all: Vec<String>,
}

fn hint(near: &[String], all: &[String]) -> String {
    match near {
        [] => format!("; there are: {}", all.join(", ")),
        _ => format!("; did you mean {}?", near.join(" or ")),
    }
}

/// Returns the error for `name`, naming up to three of `known` that are close in spelling.
pub fn nearest<'a>(
    kind: &'static str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Unknown {
    let all: Vec<String> = known.into_iter().map(String::from).collect();
    let mut scored: Vec<(f64, &String)> = all
        .iter()
        .map(|k| (strsim::jaro_winkler(name, k), k))
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near = scored.iter().take(3).map(|(_, k)| (*k).clone()).collect();
    Unknown { kind, name: name.into(), near, all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered_and_a_far_one_lists_all() {
        let known = ["read", "pread", "mmap"];
        assert_eq!(
            nearest("backend", "raed", known).to_string(),
            "unknown backend 'raed'; did you mean read or pread?"
        );
        assert_eq!(
            nearest("backend", "zzz", known).to_string(),
            "unknown backend 'zzz'; there are: read, pread, mmap"
        );
    }
}
