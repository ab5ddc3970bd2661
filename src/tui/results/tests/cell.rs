use super::super::super::msg::Effect;
use super::{at, opened, results, stage};

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
