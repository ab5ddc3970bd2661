use super::column::quote;
use super::*;
use crate::report::testing;

/// Parses RFC 4180 text into fields, line by line.
fn read(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (mut row, mut field, mut inside) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, inside) {
            ('"', true) if chars.peek() == Some(&'"') => field.extend(chars.next()),
            ('"', _) => inside = !inside,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\n', false) => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            _ => field.push(c),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !inside);
    rows
}

fn show(session: &Session) -> String {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_row_has_all_columns() {
    for (name, session) in testing::all() {
        let rows = read(&show(&session));
        assert_eq!(
            rows.len(),
            analysis::results(&session).len() + analysis::probes(&session).len() + 1,
            "{name}"
        );
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{name}");
    }
}

#[test]
fn columns_keep_their_names_and_places() {
    let text = show(&testing::empty());
    insta::assert_snapshot!("csv_columns", text.trim_end().replace(',', "\n"));
}

#[test]
fn figures_are_exact_or_empty() {
    let session = testing::single();
    let rows = read(&show(&session));
    let field = |name: &str| rows[1][rows[0].iter().position(|n| n == name).unwrap()].clone();
    let median = analysis::results(&session)[0].throughput.unwrap().summary.median;
    assert_eq!(field("throughput_median_bytes_per_second").parse(), Ok(median));
    assert_eq!(
        (
            field("throughput_low_bytes_per_second").as_str(),
            field("latency_p50_nanoseconds").as_str()
        ),
        ("", "")
    );
    assert_eq!(
        (field("count").as_str(), field("data_xor").as_str(), field("source_device").as_str()),
        ("0", "5eed0001", "")
    );
}

#[test]
fn hostile_text_stays_one_plain_field() {
    assert_eq!(quote("=1+1".into()), "'=1+1");
    assert_eq!(quote("-2".into()), "'-2");
    assert_eq!(quote("a,\"b\"".into()), "\"a,\"\"b\"\"\"");
    let mut session = testing::troubled();
    session.errors[11] = Some("=cmd|' /C calc'!A0,\"x\"\n\u{1b}[31m".into());
    let rows = read(&show(&session));
    let errors: Vec<&String> = rows.iter().flatten().filter(|e| e.contains("calc")).collect();
    assert_eq!(errors, ["'=cmd|' /C calc'!A0,\"x\"\\n\\u{1b}[31m"]);
}

#[test]
fn what_a_trial_did_has_columns() {
    let session = testing::measured_session();
    let (rows, results) = (read(&show(&session)), analysis::results(&session));
    let field =
        |row: usize, name: &str| rows[row][rows[0].iter().position(|n| n == name).unwrap()].clone();
    for (at, result) in results.iter().enumerate() {
        assert_eq!(result.cell.count, None, "calibrated");
        let all = |name: &str| -> f64 { field(at + 1, name).parse().unwrap() };
        let first = &result.trials[0];
        assert_eq!(all("repeats") * all("count"), first.ops as f64);
        assert_eq!(all("repeats") * all("count") * all("block_bytes"), all("bytes"));
        assert_eq!(all("trial_1_seconds"), first.nanos as f64 / 1e9);
        assert_eq!(all("trial_1_bytes_per_second"), first.throughput());
        assert!((all("seconds") / all("trial_1_seconds") - 1.0).abs() < 0.05);
        let second = result.trials.iter().any(|trial| trial.round == 2);
        assert_eq!(field(at + 1, "trial_2_seconds").is_empty(), !second);
    }
}
