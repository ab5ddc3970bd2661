//! Profiles of `--expect`: built-in ones and the user's, and the conditions that a plan stores.

use std::path::Path;

use crate::analysis::{ExpectError, check_expectations};
use crate::plan::{Plan, Preset, Profile, Profiles, Resolved, Settings};
use crate::text::clean_text;
use crate::userdata::{Home, read_toml_files};

/// Returns every profile: the built-in ones, and the `*.toml` files in
/// `$XDG_CONFIG_HOME/iotui/expect`.
pub fn profiles() -> Profiles {
    let mut profiles = Profiles::built_in();
    if let Some(dir) = Home::Config.folder() {
        add_from(&dir.join("expect"), &mut profiles);
    }
    profiles
}

fn add_from(dir: &Path, profiles: &mut Profiles) {
    match read_toml_files(dir) {
        Ok(files) => files.into_iter().for_each(|file| {
            let text = file.text.as_deref().map_err(String::clone);
            let profile = text.and_then(|text| read_clean(&file.id, text));
            profiles.add(&file.id, profile.map_err(|why| file.explain(&why)));
        }),
        Err(error) => profiles.add(&clean_text(&dir.to_string_lossy()), Err(error.to_string())),
    }
}

/// Parses one; everything in it may end on a terminal.
fn read_clean(id: &str, text: &str) -> Result<Profile, String> {
    let profile = Profile::parse(id, text).map_err(|why| clean_text(&why))?;
    let [about, source, published] =
        [&profile.about, &profile.source, &profile.published].map(|text| clean_text(text));
    Ok(Profile { about, source, published, ..profile })
}

/// Returns the presets that the profiles of these settings stand for, where no preset was named.
///
/// # Errors
/// A profile is unknown or invalid.
pub fn presets_of_profiles(settings: &Settings) -> Result<Vec<Preset>, ExpectError> {
    let Some(words) = &settings.expect else { return Ok(Vec::new()) };
    let profiles = profiles();
    let named = profiles.named(words).map_err(ExpectError::Profile)?;
    Ok(named.into_iter().map(Profile::preset).collect())
}

/// Stores the expectations of the settings, or else of the presets, in a plan; leaves the other
/// ones unchanged.
///
/// # Errors
/// A profile is unknown or invalid, or the plan has no cell that it is about.
pub fn expect(plan: &mut Plan, settings: &Settings, presets: &[Preset]) -> Result<(), ExpectError> {
    let Some(words) = Resolved::new(settings, presets).whole.expect else { return Ok(()) };
    plan.expect = profiles().expectations(&words).map_err(ExpectError::Profile)?;
    check_expectations(plan)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn user_profiles_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let good = "about='m\\u001b[31mine'\nexpect='p50<1ms'\n[cells]\nop='read'\n";
        let good = good.replace('\'', "\"");
        for (name, text) in
            [("mine.toml", good.as_str()), ("etcd.toml", &good), ("bad.toml", "about = ")]
        {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let mut profiles = Profiles::built_in();
        let before = profiles.iter().count();
        add_from(dir.path(), &mut profiles);
        assert_eq!(profiles.iter().count(), before + 1);
        assert_eq!(profiles.get("mine").unwrap().about, "m[31mine");
        let broken: Vec<&str> = profiles.broken().iter().map(|one| one.id.as_str()).collect();
        assert_eq!(broken, ["bad", "etcd"]);
        assert!(profiles.get("bad").unwrap_err().contains("bad.toml: line 1"));
        add_from("/no/such/folder".as_ref(), &mut profiles);
        assert_eq!(profiles.broken().len(), 2);
    }

    #[test]
    fn profile_names_its_missing_options() {
        let mut plan = crate::session::testing::session(2).plan;
        let settings = |text: &str| {
            let mut settings = Settings::default();
            settings.set("expect", text).unwrap();
            settings
        };
        let mut expect_on = |text: &str| {
            expect(&mut plan, &settings(text), &[])
                .map(|()| plan.expect.len())
                .map_err(|e| e.to_string())
        };
        assert_eq!(expect_on("p99<10ms,>=1MB/s"), Ok(1));
        let error = expect_on("etcd").unwrap_err();
        assert!(
            error.starts_with("etcd is about cells with -s 2300 --op write -t 1 --sync "),
            "{error}"
        );
        assert!(error.ends_with("give these options, or name no preset"), "{error}");
        assert!(expect_on("commits>=1").unwrap_err().contains("--sync"));
        assert!(expect_on("etdc").unwrap_err().contains("did you mean etcd"));
        let presets = presets_of_profiles(&settings("p99<1s,etcd")).unwrap();
        assert_eq!(presets.iter().map(|preset| preset.id.as_str()).collect::<Vec<_>>(), ["etcd"]);
        assert!(presets_of_profiles(&settings("p99<1s")).unwrap().is_empty());
    }
}
