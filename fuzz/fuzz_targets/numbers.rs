//! Changes a session as its text is made: one number in the place of another, or a value in the
//! place of a value. What changes bytes at random seldom gets past the parser.

const EDGES: [&[u8]; 14] = [
    b"0",
    b"1",
    b"2",
    b"7",
    b"4096",
    b"4294967295",
    b"4294967296",
    b"9007199254740993",
    b"9223372036854775807",
    b"18446744073709551615",
    b"1e308",
    b"5e-324",
    b"0.5",
    b"null",
];

/// Where each number, `null`, `true` and `false` stands.
fn values(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
        let value = at > 0 && b":[,".contains(&text[at - 1]) && text.get(at + length).is_some_and(|b| b",]}".contains(b));
        if length > 0 && value {
            found.push((at, length));
        }
        at += length.max(1);
    }
    found
}

/// The new size of the text in `data`.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut random = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |most: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % most.max(1) as u64) as usize
    };
    if below(3) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let mut text = data[..size].to_vec();
    for _ in 0..=below(4) {
        let values = values(&text);
        let Some(&(at, length)) = values.get(below(values.len())) else { break };
        let new = match below(4) {
            0 => {
                let (other, length) = values[below(values.len())];
                text[other..other + length].to_vec()
            }
            _ => EDGES[below(EDGES.len())].to_vec(),
        };
        text.splice(at..at + length, new);
    }
    let size = text.len().min(most);
    data[..size].copy_from_slice(&text[..size]);
    size
}
