use super::*;

fn set(pairs: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for (name, text) in pairs {
        settings.set(name, text).unwrap_or_else(|e| panic!("{name} {text}: {e}"));
    }
    settings
}

/// A value for every setting.
const EACH: &[(&str, &str)] = &[
    ("backend", "read,stdio+buf=64k"),
    ("block-size", "1k..8k"),
    ("count", "0"),
    ("op", "write"),
    ("pattern", "stride:3"),
    ("threads", "1,2"),
    ("cpus", "3,0-1"),
    ("depth", "1..32"),
    ("rate", "1k..32k"),
    ("arrival", "poisson"),
    ("think", "5ms"),
    ("latency-target", "p99<5ms"),
    ("neighbour", "-s 1m --op write --direct"),
    ("neighbour-share", "25,100"),
    ("watch", "3600s"),
    ("stop-if", "p99>50ms for 10s,iops<50 for 1m"),
    ("cache", "cold,asis"),
    ("direct", "true"),
    ("xor", "no"),
    ("size", "100m"),
    ("sync", "end,fsync"),
    ("sync-every", "1,8"),
    ("mix", "0,70"),
    ("cpu-cache", "keep,flush"),
    ("writes", "overwrite,append"),
    ("file-per", "run,thread"),
    ("opened", "before,timed"),
    ("trials", "3"),
    ("until", "0.5%"),
    ("budget", "9s"),
    ("trial-time", "5s..15s"),
    ("seed", "7"),
    ("ceilings", "always"),
    ("rated", "3500000000/s"),
    ("expect", "etcd,p99<10ms,iops>=10k"),
    ("memory-share", "50,150"),
    ("cold", "meta"),
    ("compressible", "50"),
    ("dedupe", "20"),
    ("precondition", "2"),
    ("verify", "true"),
    ("fresh", "true"),
    ("probe", "call,network"),
    ("set", "processes=1..10 latency.bytes=64k,1m"),
    ("remote", "lab-7:80"),
    ("ranks", "1,2,4"),
    ("layout", "strided"),
    ("shift", "no"),
];

#[test]
fn settings_survive_argv() {
    let all = set(EACH);
    let argv = all.argv();
    let mut back = Settings::default();
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let named = |s: &&Setting| {
            name == format!("--{}", s.name) || s.short.is_some_and(|c| name == format!("-{c}"))
        };
        let setting = Settings::ALL.iter().find(named).unwrap();
        let value = if setting.kind == ValueKind::Switch {
            value.unwrap_or("yes")
        } else {
            words.next().unwrap()
        };
        back.set(setting.name, value).unwrap();
    }
    assert_eq!(back, all);
    let mut said = Settings::default();
    all.given_values().for_each(|(name, text)| said.set(name, &text).unwrap());
    assert_eq!((said, all.given_values().count()), (all.clone(), Settings::ALL.len()));
}

#[test]
fn sets_override_by_parameter() {
    let said = set(&[("set", "bytes=4k"), ("set", "processes=2")])
        .or(&set(&[("set", "bytes=8k stride=64")]));
    assert_eq!(said.argv().join(" "), "--set stride=64 --set bytes=4k --set processes=2");
}

#[test]
fn what_was_said_wins_over_defaults() {
    let said = set(&[("op", "seek")]).or(&set(&[("op", "read"), ("seed", "1")]));
    assert_eq!((said.op, said.seed), (Some(Op::Seek), Some(1)));
}

#[test]
fn bad_values_name_what_is_wanted() {
    for (name, text, wanted) in [
        ("threads", "0", "between 1 and 1024"),
        ("trials", "0", "trials from 1"),
        ("until", "0", "answer, steady or a percentage from 0.01 to 100"),
        ("until", "5%%x", "a percentage"),
        ("until", "5%%", "a percentage"),
        ("until", "nan", "a percentage"),
        ("budget", "0s", "above 0"),
        ("trial-time", "9s..1s", "backwards"),
        ("seed", "-1", "a seed"),
        ("op", "reed", "did you mean read"),
        ("direct", "maybe", "yes or no"),
        ("memory-share", "0,50", "from 1 to 1000"),
        ("cold", "dat", "did you mean data"),
        ("blok-size", "1", "did you mean block-size"),
    ] {
        let error = Settings::default().set(name, text).unwrap_err().to_string();
        assert!(error.contains(wanted) && !error.contains('\n'), "{name} {text}: {error}");
    }
}

#[test]
fn options_of_neighbours_make_settings() {
    let given = Settings::parse_neighbour(" -b pread --op write -s 1m --direct --rate=200MB/s ");
    let argv = given.unwrap().argv().join(" ");
    assert_eq!(argv, "-b pread -s 1m --op write --rate 200MB/s --direct");
    assert_eq!(Settings::parse_neighbour(&argv).unwrap().argv().join(" "), argv);
    for (line, why) in [
        ("", "name its options"),
        ("data.bin", "'data.bin' is not an option of a neighbour"),
        ("--op write --trials 3", "'--trials' is not an option of a neighbour"),
        ("--neighbour x", "'--neighbour' is not an option"),
        ("-s", "'-s' of the neighbour lacks a value"),
        ("-s 8m..1k", "-s of the neighbour: the range '8m..1k' runs backwards"),
        ("--rate 0", "--rate of the neighbour:"),
    ] {
        let error = Settings::parse_neighbour(line).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}
