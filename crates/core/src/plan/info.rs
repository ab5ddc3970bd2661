//! The description of a backend or peer: one record that help, the setup screen, checks, estimates,
//! charts, fio's job files and docs use. No backend is named anywhere else.

use super::{Fio, Op, Sync};

/// The bytes that a backend moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// Bytes between a file and memory.
    Data,
    /// Bytes that the kernel forwards: none reaches the program, so there is nothing to fold.
    Inside,
    /// Bytes between a file and the memory of another program, a peer: none of them is visible
    /// here.
    Elsewhere,
    /// No bytes: only the cost of the call (or of iotui itself) is measured.
    Nothing,
}

/// The path of a file's bytes, from which a backend's rate is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPath {
    /// Used in place in the page cache: a mapping.
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
    /// None are moved: the cost of a call is measured.
    CallOnly,
    /// None are moved, without a call: the cost of the measuring loop itself.
    LoopOnly,
}

/// The number of operations that a backend can have in flight.
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
    /// The `=VALUE`, if the option takes one.
    pub value: Option<OptValue>,
    pub about: &'static str,
}

impl Opt {
    /// Returns an option without a value.
    pub const fn flag(name: &'static str, about: &'static str) -> Opt {
        Opt { name, value: None, about }
    }
}

/// The value of an option: from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptValue {
    /// Its meaning in lists: `SIZE`, or `N` for a number.
    pub word: &'static str,
    pub max: u64,
}

impl OptValue {
    /// Bytes, up to 1 GiB.
    pub const SIZE: OptValue = OptValue { word: "SIZE", max: 1 << 30 };

    pub const fn number(max: u64) -> OptValue {
        OptValue { word: "N", max }
    }
}

/// Number of hues.
pub const HUES: usize = 6;

/// A shape that can be filled and hollow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    Circle,
    Square,
    /// Triangles, by where they point.
    Up,
    Right,
    Left,
    /// Fonts of terminals have no more shapes in both forms: capital if filled, else small.
    Letter,
}

/// The look of a backend or peer in every chart, on the screen and in reports, the same in each
/// run.
///
/// The page cache decides the form of the shape: filled is cold, hollow is warm, and asis has a
/// third form. Hues repeat, shapes do not, so that nothing depends on colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Index of a hue, below [`HUES`]. Backends that are often compared differ in it.
    pub hue: usize,
    pub shape: Shape,
    /// Its sign where there are only letters; no two have the same.
    pub letter: char,
    /// Its sign for asis, and the same in ASCII.
    pub third: (char, char),
}

impl Identity {
    pub const fn new(hue: usize, shape: Shape, letter: char, third: (char, char)) -> Identity {
        Identity { hue, shape, letter, third }
    }

    /// Returns the look of a name that this version does not know: its first letter.
    pub fn of_unknown(id: &str) -> Identity {
        // FNV-1a: the same in every version.
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let letter = id.chars().find(char::is_ascii_alphabetic).unwrap_or('Y');
        let hue = (hash % HUES as u64) as usize;
        Identity::new(hue, Shape::Letter, letter.to_ascii_uppercase(), ('§', '\''))
    }
}

/// The entry of a backend or peer in its registry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    pub id: &'static str,
    pub identity: Identity,
    /// The call in the notation of manual pages: `pread(2)`.
    pub title: &'static str,
    /// The call that writes, for error messages, if it is not the title.
    pub write_call: Option<&'static str>,
    /// One line for lists.
    pub about: &'static str,
    /// A paragraph: what is timed, what is not, how to interpret the number.
    pub doc: &'static str,
    pub data_path: DataPath,
    /// Cost of an operation beyond moving its bytes, in units of the cheapest system call.
    pub relative_cost: f64,
    /// Many programs do their I/O with it, so lists for people begin with it.
    pub common: bool,
    pub ops: &'static [Op],
    pub depth: Depth,
    /// O_DIRECT makes sense: data goes through one of iotui's buffers.
    pub direct: bool,
    /// The result depends on the page cache, so cold and warm differ.
    pub cached: bool,
    /// Reads and writes can be mixed in one lane.
    pub mixes: bool,
    /// A write beyond the end extends the file: with a call, not with a mapping.
    pub appends: bool,
    /// How its writes can be made durable.
    pub syncs: &'static [Sync],
    pub options: &'static [Opt],
    /// Options that make it something else, each with the entry that describes it then.
    pub changed_by: &'static [(&'static str, &'static Info)],
    /// The kinds of work it measures by default.
    pub default_for: &'static [DefaultFor],
    /// One plain call per block: calls that move nothing are compared with it.
    pub plain_call: bool,
    /// The sysctl with which an administrator can forbid it.
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

    /// A call that copies a block, without special features: the base of most entries.
    pub const COPIES_BY_CALL: Info = Info {
        data_path: DataPath::CopiedByCall,
        relative_cost: Info::USUAL_COST,
        ops: &[Op::Read, Op::Write],
        direct: true,
        cached: true,
        appends: true,
        syncs: &[Sync::None, Sync::End, Sync::Dsync, Sync::Osync],
        fio: Fio::Unavailable(""),
        ..Info::MOVES_NOTHING
    };

    /// A call that moves nothing and takes no options: only its name and description remain to be
    /// set.
    pub const MOVES_NOTHING: Info = Info {
        id: "",
        identity: Identity::new(0, Shape::Letter, 'Y', ('§', '\'')),
        title: "",
        write_call: None,
        about: "",
        doc: "",
        data_path: DataPath::CallOnly,
        relative_cost: Info::USUAL_COST,
        common: false,
        ops: &[Op::Seek],
        depth: Depth::Synchronous,
        direct: false,
        cached: false,
        mixes: false,
        appends: false,
        syncs: &[Sync::None],
        options: &[],
        changed_by: &[],
        default_for: &[],
        plain_call: false,
        kernel_switch: None,
        fio: Fio::Unavailable("fio has no job for calls that move no data"),
    };

    /// Returns what it carries.
    pub fn moves(&self) -> Moves {
        match self.data_path {
            DataPath::InPlace | DataPath::Copied | DataPath::CopiedByCall => Moves::Data,
            DataPath::InKernel => Moves::Inside,
            DataPath::InPeer => Moves::Elsewhere,
            DataPath::CallOnly | DataPath::LoopOnly => Moves::Nothing,
        }
    }

    /// Returns whether an operation carries bytes at all.
    pub fn moves_bytes(&self) -> bool {
        self.moves() != Moves::Nothing
    }

    /// Returns whether it is another program that does the work.
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
