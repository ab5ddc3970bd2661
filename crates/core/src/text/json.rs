//! The strings of JSON text, wherever they are: what handles all of them cannot forget a field.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Replaces the texts of a record for which `change` returns another. One of a few words that a
/// text must be, as the id of a backend, stays.
pub fn change_texts<T: Serialize + DeserializeOwned>(
    record: &mut T,
    change: impl Fn(&str) -> Option<String>,
) {
    let Ok(json) = serde_json::to_string(&*record) else { return };
    let mut changed = Vec::new();
    let all = replace_chosen(&json, &change, |place| {
        changed.push(place);
        true
    });
    if changed.is_empty() {
        return;
    }
    if let Ok(read) = serde_json::from_str(&all) {
        *record = read;
        return;
    }
    let mut chosen = Vec::new();
    for place in changed {
        chosen.push(place);
        let json = replace_chosen(&json, &change, |place| chosen.contains(&place));
        match serde_json::from_str(&json) {
            Ok(read) => *record = read,
            Err(_) => drop(chosen.pop()),
        }
    }
}

/// Replaces those texts that change and whose place among the strings `is_chosen` accepts.
fn replace_chosen<'a>(
    json: &'a str,
    change: impl Fn(&str) -> Option<String>,
    mut is_chosen: impl FnMut(usize) -> bool,
) -> Cow<'a, str> {
    let mut place = 0;
    replace_strings(json, |key, text| {
        place += 1;
        key?;
        change(text).filter(|_| is_chosen(place))
    })
}

/// Returns JSON with other strings where `change` returns one; all other bytes stay. `change` gets
/// a string with the key that it belongs to, or a key itself with `None`.
///
/// Text that is not JSON stays as it is from its first error.
pub fn replace_strings(
    json: &str,
    mut change: impl FnMut(Option<&str>, &str) -> Option<String>,
) -> Cow<'_, str> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    let mut key = Cow::Borrowed("");
    while let Some(start) = json[at..].find('"').map(|found| at + found) {
        let Some(end) = find_end(json, start) else { break };
        let Some(text) = decode(&json[start..end]) else { break };
        let is_key = json[end..].trim_start().starts_with(':');
        if let Some(text) = change((!is_key).then_some(&*key), &text) {
            out += &json[copied..start];
            out += &serde_json::Value::String(text).to_string();
            copied = end;
        }
        if is_key {
            key = text;
        }
        at = end;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out += &json[copied..];
    Cow::Owned(out)
}

/// Returns the end of the string that begins with the quote at `start`.
fn find_end(json: &str, start: usize) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = start + 1;
    while *bytes.get(at)? != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some(at + 1)
}

/// Returns the text of a string with its quotes; `None` if it is invalid.
fn decode(string: &str) -> Option<Cow<'_, str>> {
    if string.contains('\\') {
        return serde_json::from_str(string).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(&string[1..string.len() - 1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replaces_texts_and_keeps_all_else() {
        let json = r#"{"a" : "x\"\u0041","b":[1.50, "y", {"c\\":"x"}],"x":null}"#;
        let mut seen = Vec::new();
        let all = replace_strings(json, |key, text| {
            seen.push((key.map(String::from), text.to_string()));
            (key.is_some() && text.starts_with('x')).then(|| "\"".into())
        });
        assert_eq!(all, r#"{"a" : "\"","b":[1.50, "y", {"c\\":"\""}],"x":null}"#);
        let of = |key: &str, text: &str| (Some(key.to_string()), text.to_string());
        let key = |text: &str| (None, text.to_string());
        let expected = [
            key("a"),
            of("a", "x\"A"),
            key("b"),
            of("b", "y"),
            key("c\\"),
            of("c\\", "x"),
            key("x"),
        ];
        assert_eq!(seen, expected);
        assert!(matches!(replace_strings(json, |_, _| None), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn any_text_is_cut_at_characters(json in "[\"\\\\a:{ü}u0]{0,40}") {
            replace_strings(&json, |_, text| Some(text.into()));
        }
    }
}
