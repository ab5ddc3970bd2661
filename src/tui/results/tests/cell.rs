use super::super::super::msg::Effect;
use super::super::super::shown::Shown;
use super::super::super::testing;
use super::{at, opened, results, stage, stage_of};
use crate::record::Ceilings;

#[test]
fn a_cell_opens_and_leads_to_its_neighbours() {
    let mut stage = stage();
    stage.keys("<enter>");
    assert_eq!(opened(&stage), "mmap 1 MiB warm");
    stage.keys("lll");
    assert_eq!(opened(&stage), "mmap 1 MiB warm", "the last one failed and is no point of the curve");
    stage.keys("hh");
    assert_eq!(opened(&stage), "mmap 64 KiB warm");
    stage.keys("G");
    let most = results(&stage).open.unwrap().scroll;
    assert!(most > 0);
    stage.keys("jjjj");
    assert_eq!(results(&stage).open.unwrap().scroll, most, "it ends with the last line");
    stage.keys("k<pgup><pgup><pgup>");
    assert_eq!(results(&stage).open.unwrap().scroll, 0);
    stage.keys("q");
    assert_eq!((opened(&stage).as_str(), at(&stage).as_str()), ("-", "mmap warm 64k"));
    stage.keys("v<enter>j<esc>v");
    assert_eq!(opened(&stage), "-");
    assert_eq!(stage.take(), [], "nothing of that quits");
    stage.keys("q");
    assert_eq!(stage.take(), [Effect::Quit(0)]);
}

#[test]
fn an_opened_cell_tells_everything() {
    let mut stage = stage();
    stage.keys("v/not-cold<enter><enter>");
    let wide = stage.snapshot(160, 60);
    for text in [
        "read 64 KiB cold",
        "median",
        "stddev",
        "5 trials",
        "Trials",
        "round",
        "Where the bytes came from",
        "device 100 %",
        "counted",
        "p50 800 ns",
        "p99 3.00",
        "5000 operations timed",
        "not-cold: what was seen",
        "3 of 5 trials",
        "use more --trials",
        "user",
        "page faults",
    ] {
        assert!(wide.contains(text), "{text} in {wide}");
    }
    stage.keys("<esc>/failed<enter>");
    stage.keys("<esc>v").keys("v/failed<enter><enter>");
    let failed = stage.snapshot(100, 30);
    assert!(failed.contains("This cell failed") && failed.contains("pread(2): EIO at 4 KiB"), "{failed}");
}

#[test]
fn a_cell_says_what_limits_it_and_the_chart_what_the_machine_can() {
    let shown = |ceilings: Option<Ceilings>| {
        let mut session = testing::session();
        let grounds = session.grounds.get_or_insert_default();
        grounds.machine.ceilings = ceilings;
        stage_of(Shown::of(session, None))
    };
    let ceilings = Ceilings { copy: Some(2.0 * 1_073_741_824.0), read: Some(3.0 * 1_073_741_824.0), ..Ceilings::default() };
    let mut stage = shown(Some(ceilings));
    assert!(stage.picture(120, 40).contains("copy, 1 thread"), "{}", stage.picture(120, 40));
    stage.keys("v/cold<enter><enter>");
    let open = stage.picture(160, 60);
    assert!(open.contains("What limits it") && open.contains("device"), "{open}");
    let bare = shown(None).picture(120, 40);
    assert!(!bare.contains("1 thread"), "{bare}");
}
