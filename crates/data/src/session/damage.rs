//! Finds which lines of a session file are lost, and counts them.

/// The highest plausible line number: a file of 2 GiB has fewer.
const MAX_NUMBER: u64 = 1 << 26;
/// The lines that hold the header and its copy.
pub const HEADERS: u64 = 2;

/// The lines of one file that were seen and that are missing.
#[derive(Debug, Default)]
pub struct Damage {
    /// The file has seals.
    pub sealed: bool,
    /// Lines that are not loaded, counted from 1 and sorted.
    pub bad: Vec<u64>,
    /// Lines that an earlier copy of the file omitted, as noted in it.
    pub omitted_lines: u64,
    /// The header was restored from its copy or a later line.
    pub mended: bool,
    /// The header is not the first line; the first line is an ordinary one.
    pub moved: bool,
    /// The part of the header that describes the machine could not be read.
    pub header: bool,
    /// One bit per sealed line number that was seen.
    seen: Vec<u64>,
    highest: u64,
    /// The number of lines in the file.
    pub lines: u64,
    ended: bool,
    grounds: Option<u64>,
    replanned: bool,
    /// The number of the first line that refers to a cell.
    first_counted: Option<u64>,
    /// The first bad line that may have been the plan.
    maybe_plan: Option<u64>,
}

impl Damage {
    pub fn new(sealed: bool, header: bool) -> Damage {
        Damage { sealed, header, ..Damage::default() }
    }

    /// Notes the number of a sealed line; `false` if that number was seen before.
    pub fn see(&mut self, number: u64) -> bool {
        if number == 0 || number > MAX_NUMBER {
            return false;
        }
        let (at, bit) = ((number / 64) as usize, 1u64 << (number % 64));
        if self.seen.len() <= at {
            self.seen.resize(at + 1, 0);
        }
        let new = self.seen[at] & bit == 0;
        self.seen[at] |= bit;
        self.highest = self.highest.max(number);
        new
    }

    fn has(&self, number: u64) -> bool {
        self.seen.get((number / 64) as usize).is_some_and(|bits| bits & (1 << (number % 64)) != 0)
    }

    /// Notes a line that is not loaded.
    pub fn lose(&mut self, at: u64, line: &[u8]) {
        self.bad.push(at);
        if !is_surely_no_plan(line) {
            let first = self.maybe_plan.get_or_insert(at);
            *first = at.min(*first);
        }
    }

    pub fn end(&mut self) {
        self.ended = true;
    }

    pub fn grounds(&mut self, number: u64) {
        // They follow again where a limit of a control group changes.
        self.grounds.get_or_insert(number);
    }

    pub fn replan(&mut self) {
        self.replanned = true;
    }

    /// Notes a line that refers to a cell.
    pub fn count(&mut self, number: u64) {
        let first = self.first_counted.get_or_insert(number);
        *first = number.min(*first);
    }

    /// Returns the line in which the executed plan may have been lost; without it the cells have no
    /// meaning.
    ///
    /// Such a plan is written twice, right before the grounds.
    pub fn lost_plan(&self) -> Option<u64> {
        let first = self.first_counted.filter(|_| !self.replanned)?;
        if !self.sealed {
            return self.maybe_plan.filter(|at| *at < first);
        }
        match self.grounds {
            Some(at) => {
                (at > HEADERS + 2 && !self.has(at - 1) && !self.has(at - 2)).then(|| at - 2)
            }
            None => (HEADERS + 1..first.saturating_sub(2))
                .find(|at| (*at..at + 3).all(|number| !self.has(number))),
        }
    }

    /// Returns the number of lost lines.
    pub fn lost_lines(&self) -> u64 {
        self.gaps() + self.unnumbered()
    }

    /// Returns how many of them leave no gap in the numbers; a copy must record them.
    pub fn unnumbered(&self) -> u64 {
        let bad = match self.sealed {
            true if self.ended => 0,
            true => self.trailing(),
            false => self.bad.len() as u64,
        };
        bad + self.omitted_lines + u64::from(self.header)
    }

    /// Counts the bad lines at the end of the file.
    fn trailing(&self) -> u64 {
        let mut good = self.lines;
        while good > 0 && self.bad.binary_search(&good).is_ok() {
            good -= 1;
        }
        self.lines - good
    }

    /// Returns the number for a line that is added to a copy.
    pub fn next(&self) -> u64 {
        self.highest + 1
    }

    /// Counts the missing numbers after the header's.
    fn gaps(&self) -> u64 {
        let seen: u64 = self.seen.iter().map(|bits| u64::from(bits.count_ones())).sum();
        let headers = (1..=HEADERS).filter(|number| self.has(*number)).count() as u64;
        self.highest.saturating_sub(HEADERS).saturating_sub(seen - headers)
    }
}

/// Returns whether a damaged line was of another kind than a plan: its start nearly matches that of
/// such a line.
fn is_surely_no_plan(line: &[u8]) -> bool {
    let near = |start: &str| {
        line.len() >= start.len()
            && line.iter().zip(start.as_bytes()).filter(|(a, b)| a != b).count() <= 1
    };
    [
        "{\"kind\":\"grounds\"",
        "{\"kind\":\"note\"",
        "{\"kind\":\"calibrated\"",
        "{\"kind\":\"trial\"",
        "{\"kind\":\"verdict\"",
        "{\"kind\":\"end\"",
    ]
    .into_iter()
    .any(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(numbers: &[u64]) -> Damage {
        let mut damage = Damage::new(true, false);
        numbers.iter().for_each(|number| assert!(damage.see(*number)));
        damage
    }

    #[test]
    fn gaps_in_numbers_are_lost_lines() {
        let mut damage = sealed(&[1, 2, 3, 7, 8]);
        assert!(!damage.see(7) && !damage.see(0) && !damage.see(u64::MAX));
        assert_eq!(damage.lost_lines(), 3);
        (damage.lines, damage.bad) = (6, vec![6]);
        assert_eq!((damage.lost_lines(), damage.unnumbered()), (4, 1));
        damage.end();
        assert_eq!(damage.lost_lines(), 3);
        // The header or its copy is enough.
        assert_eq!((sealed(&[2, 3]).lost_lines(), sealed(&[1, 3]).lost_lines()), (0, 0));
    }

    #[test]
    fn a_lost_plan_is_found() {
        fn with(numbers: &[u64], grounds: Option<u64>, first: u64) -> Option<u64> {
            let mut damage = sealed(numbers);
            grounds.into_iter().for_each(|number| damage.grounds(number));
            damage.count(first);
            damage.lost_plan()
        }
        assert_eq!(with(&[1, 2, 3, 4], Some(3), 4), None);
        assert_eq!(with(&[1, 2, 5, 6], Some(5), 6), Some(3));
        assert_eq!(with(&[1, 2, 4, 5, 6], Some(5), 6), None);
        assert_eq!(with(&[1, 2, 4], None, 4), None);
        assert_eq!(with(&[1, 2, 6], None, 6), Some(3));
    }
}
