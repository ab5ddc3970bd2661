//! What a backend or peer is and can do: one record from which help, setup screen, checks,
//! estimates, fio's job files and docs are made. No backend is named anywhere else.

use super::{Fio, Op};

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

/// The path of a file's bytes: what an estimate of a backend's rate is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPath {
    /// Used in the page cache, where they lie: a mapping.
    InPlace,
    /// Copied by the program, without a call per block: from a mapping, or from a buffer that one
    /// call fills for many blocks.
    Copied,
    /// Copied by a system call per block.
    CopiedByCall,
    /// Moved within the kernel: none reaches the program.
    InKernel,
    /// Moved by another program, a peer.
    InPeer,
    /// None move: the cost of a call is measured.
    CallOnly,
    /// None move, and there is no call: the cost of the measuring loop itself.
    LoopOnly,
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    pub id: &'static str,
    /// The call as a manual page names it: `pread(2)`.
    pub title: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// A paragraph: what is timed, what is not, how to read the number.
    pub doc: &'static str,
    pub data_path: DataPath,
    /// Cost of an operation beyond moving its bytes, in cheapest system calls.
    pub relative_cost: f64,
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
    /// What it is measured for where no backend is named.
    pub default_for: &'static [DefaultFor],
    /// One plain call per block: calls that move nothing are compared with it.
    pub plain_call: bool,
    /// The sysctl by which a machine's owner can forbid it.
    pub kernel_switch: Option<&'static str>,
    pub fio: Fio,
}

/// Kinds of work that have default backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultFor {
    Read,
    Write,
    Seek,
    /// Reads and writes in one lane.
    Mix,
}

impl From<Op> for DefaultFor {
    fn from(op: Op) -> DefaultFor {
        match op {
            Op::Read => DefaultFor::Read,
            Op::Write => DefaultFor::Write,
            Op::Seek => DefaultFor::Seek,
        }
    }
}

impl Info {
    /// The [`Info::relative_cost`] of most calls.
    pub const USUAL_COST: f64 = 5.0;

    /// A call that copies a block, without anything special: the start of most entries.
    pub const COPIES_BY_CALL: Info = Info {
        data_path: DataPath::CopiedByCall,
        relative_cost: Info::USUAL_COST,
        ops: &[Op::Read, Op::Write],
        direct: true,
        cached: true,
        appends: true,
        fio: Fio::Unavailable(""),
        ..Info::MOVES_NOTHING
    };

    /// A call that moves nothing and takes no option: what is left to say is its name and what it
    /// does.
    pub const MOVES_NOTHING: Info = Info {
        id: "",
        title: "",
        about: "",
        doc: "",
        data_path: DataPath::CallOnly,
        relative_cost: Info::USUAL_COST,
        ops: &[Op::Seek],
        depth: Depth::Synchronous,
        direct: false,
        cached: false,
        mixes: false,
        appends: false,
        options: &[],
        default_for: &[],
        plain_call: false,
        kernel_switch: None,
        fio: Fio::Unavailable("fio has no job for calls that move no data"),
    };

    /// What it carries.
    pub fn moves(&self) -> Moves {
        match self.data_path {
            DataPath::InPlace | DataPath::Copied | DataPath::CopiedByCall => Moves::Data,
            DataPath::InKernel => Moves::Inside,
            DataPath::InPeer => Moves::Elsewhere,
            DataPath::CallOnly | DataPath::LoopOnly => Moves::Nothing,
        }
    }

    /// Whether an operation carries bytes at all.
    pub fn moves_bytes(&self) -> bool {
        self.moves() != Moves::Nothing
    }

    /// Whether it is another program that does the work.
    pub fn is_peer(&self) -> bool {
        self.data_path == DataPath::InPeer
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
