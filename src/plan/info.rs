//! What a backend or peer is and can do: one record from which help, setup screen, checks and docs
//! are made.

use super::Op;

/// What a backend carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// Bytes between a file and memory.
    Data,
    /// Bytes that the kernel moves on by itself: none reaches the program, so there is nothing to
    /// fold.
    Inside,
    /// Bytes between a file and the memory of another program, a peer: nothing of them is seen
    /// here.
    Elsewhere,
    /// No bytes: only the cost of the call (or of iotui itself) is measured.
    Nothing,
}

/// How many operations a backend can have under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// One: the call returns when the work is done.
    Synchronous,
    UpTo(u32),
}

/// One `+option` of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt {
    pub name: &'static str,
    /// What `=VALUE` means, where the option takes one (`SIZE`).
    pub value: Option<&'static str>,
    pub about: &'static str,
}

impl Opt {
    /// The largest value: of a number (`N`) what one vectored call takes (UIO_MAXIOV), of a size 1
    /// GiB.
    pub fn most(&self) -> u64 {
        if self.value == Some("N") { 1024 } else { 1 << 30 }
    }
}

/// The entry of a backend or peer in its registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    pub id: &'static str,
    /// The call as a manual page names it: `pread(2)`.
    pub title: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// A paragraph: what is timed, what is not, how to read the number.
    pub doc: &'static str,
    pub moves: Moves,
    pub ops: &'static [Op],
    pub depth: Depth,
    /// O_DIRECT makes sense: data goes through a buffer of iotui's.
    pub direct: bool,
    /// The result depends on the page cache, so cold and warm differ.
    pub cached: bool,
    /// Reads and writes can be mixed in one lane.
    pub mixes: bool,
    /// A write beyond the end makes the file longer: with a call, not with a mapping.
    pub appends: bool,
    pub options: &'static [Opt],
}

impl Info {
    /// A call that moves nothing and takes no option: what is left to say is its name and what it
    /// does.
    pub const MOVES_NOTHING: Info = Info {
        id: "",
        title: "",
        about: "",
        doc: "",
        moves: Moves::Nothing,
        ops: &[Op::Seek],
        depth: Depth::Synchronous,
        direct: false,
        cached: false,
        mixes: false,
        appends: false,
        options: &[],
    };

    /// Whether an operation carries bytes at all.
    pub fn moves_bytes(&self) -> bool {
        self.moves != Moves::Nothing
    }

    /// Whether it is another program that does the work.
    pub fn is_peer(&self) -> bool {
        self.moves == Moves::Elsewhere
    }

    pub fn max_depth(&self) -> u32 {
        match self.depth {
            Depth::Synchronous => 1,
            Depth::UpTo(most) => most,
        }
    }

    pub fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().find(|o| o.name == name)
    }
}
