//! The descriptions of backends and peers, and their `+options`, each with its equivalent in fio.

use crate::plan::{
    DataPath, DefaultFor, Depth, Fio, FioEngine, FioOption, Identity, Info, Job, Op, Opt, OptValue,
    Shape, Sync,
};

pub static NULL: Info = Info {
    id: "null",
    identity: Identity::new(5, Shape::Letter, 'N', ('η', ';')),
    title: "nothing",
    about: "does nothing: the overhead of iotui's loop",
    doc: "Every operation returns at once. Its rate is the highest that iotui can measure, \
          and its time per operation is the overhead that iotui adds to every other \
          backend: a few nanoseconds.",
    data_path: DataPath::LoopOnly,
    ops: &[Op::Read, Op::Write, Op::Seek],
    fio: Fio::Engine(
        FioEngine::new("null", Some(0), &[]).with_note("no bytes move: fio's own cost"),
    ),
    ..Info::MOVES_NOTHING
};

pub static READ: Info = Info {
    id: "read",
    identity: Identity::new(0, Shape::Circle, 'R', ('ρ', '$')),
    title: "read(2)",
    write_call: Some("write(2)"),
    about: "copies the next block into one buffer; lseek first where the order jumps",
    doc: "One read (or write) per block into one page-aligned buffer. In any order but \
          sequential every block needs an lseek first: two system calls, both counted.",
    common: true,
    options: &[LIBC, ATIME, SEQUENTIAL, RANDOM, WILL_NEED],
    default_for: &[DefaultFor::Read, DefaultFor::Write],
    plain_call: true,
    fio: Fio::Engine(FioEngine::new("sync", Some(1), CALL_FIO_OPTIONS)),
    ..Info::COPIES_BY_CALL
};

pub static PREAD: Info = Info {
    id: "pread",
    identity: Identity::new(3, Shape::Right, 'P', ('π', '?')),
    title: "pread(2)",
    write_call: Some("pwrite(2)"),
    about: "copies a block at an offset into one buffer",
    doc: "One pread (or pwrite) per block into one page-aligned buffer. The kernel copies \
          the data out of the page cache, or with --direct the device writes it into the \
          buffer itself.",
    common: true,
    mixes: true,
    syncs: Sync::OF_WRITES,
    options: &[LIBC, ATIME, SHARED, SEQUENTIAL, RANDOM, WILL_NEED],
    default_for: &[DefaultFor::Mix],
    plain_call: true,
    fio: Fio::Engine(FioEngine::new("psync", Some(1), CALL_FIO_OPTIONS)),
    ..Info::COPIES_BY_CALL
};

pub static STDIO: Info = Info {
    id: "stdio",
    identity: Identity::new(5, Shape::Letter, 'S', ('σ', '&')),
    title: "fread(3)",
    write_call: Some("fwrite(3)"),
    about: "the C library's buffered streams: many small reads per system call",
    doc: "One fread (or fwrite) per block on a FILE of the C library, after an fseek where \
          the order jumps. Its default buffer is one block of the file system (4 KiB); \
          +buf=SIZE passes a buffer of that size to setvbuf, since glibc ignores the size \
          without one. The kernel counts the system calls \
          (/proc/thread-self/io); iotui adds one lseek per fseek.",
    common: true,
    data_path: DataPath::Copied,
    syncs: &[Sync::None, Sync::End],
    direct: false,
    options: &[
        Opt {
            name: "buf",
            value: Some(OptValue::SIZE),
            about: "a stream buffer of this size (setvbuf)",
        },
        SEQUENTIAL,
        RANDOM,
    ],
    fio: Fio::Unavailable("fio has no engine of fread(3)"),
    ..Info::COPIES_BY_CALL
};

pub static MMAP: Info = Info {
    id: "mmap",
    identity: Identity::new(1, Shape::Square, 'M', ('μ', '%')),
    title: "mmap(2)",
    about: "maps the file and uses its data in place, without a copy",
    doc: "The span is mapped and every block is folded to its XOR in place: an untouched \
          mapping reads nothing, so the time always includes touching the data. The first \
          touch of a page is a page fault instead of a system call. Writes store each \
          block through the mapping, from one buffer, as mmap-copy does.",
    common: true,
    data_path: DataPath::InPlace,
    syncs: MAPPING_SYNCS,
    direct: false,
    appends: false,
    options: MAPPING_OPTIONS,
    default_for: &[DefaultFor::Read],
    fio: Fio::Unavailable(
        "fio copies from its mapping: it has no engine that uses the data in place",
    ),
    ..Info::COPIES_BY_CALL
};

pub static MMAP_COPY: Info = Info {
    id: "mmap-copy",
    identity: Identity::new(4, Shape::Letter, 'C', ('ψ', '(')),
    title: "mmap(2) + memcpy(3)",
    about: "maps the file and copies each block into (or from) one buffer",
    doc: "The span is mapped and every block is copied between the mapping and one \
          page-aligned buffer by the C library's memcpy: what read(2) does, with page \
          faults instead of system calls.",
    data_path: DataPath::Copied,
    syncs: MAPPING_SYNCS,
    direct: false,
    appends: false,
    options: MAPPING_OPTIONS,
    default_for: &[DefaultFor::Write],
    fio: Fio::Engine(FioEngine::new("mmap", Some(0), ADVICE_IN_FIO)),
    ..Info::COPIES_BY_CALL
};

pub static URING: Info = Info { changed_by: &[(NOP.name, &URING_NOP)], ..URING_ENTRY };

const URING_ENTRY: Info = Info {
    id: "uring",
    identity: Identity::new(2, Shape::Up, 'U', ('λ', '^')),
    title: "io_uring(7)",
    write_call: Some("io_uring(7) write"),
    about: "queues operations in shared memory: one system call submits and collects many",
    doc: "All free slots are filled, one io_uring_enter submits them and waits for at \
          least one, and all completions are taken. The buffer and the file are registered \
          once, and the ring itself from Linux 5.18 on. At depth 1 it makes one system call \
          per block, as pread does; at a higher depth one call serves many blocks, and a disk \
          sees many requests at once (with --direct). Random direct requests are submitted two \
          at a time: the kernel would hold more in one call back until it has seen all of them. \
          +submit=N and +complete=N set how many one call submits and waits for, above depth 1. \
          Completions do not interrupt the lane (IORING_SETUP_DEFER_TASKRUN, where the kernel \
          supports it). With +iopoll the lane polls the device instead of waiting. With +nop \
          nothing is read, so operations per second measure the ring itself.",
    common: true,
    depth: Depth::UpTo(Job::MAX_DEPTH),
    mixes: true,
    syncs: Sync::OF_FLAGGED_WRITES,
    options: &[SQPOLL, IOPOLL, SUBMIT, COMPLETE, NOP, SHARED, SEQUENTIAL, RANDOM, WILL_NEED],
    default_for: &[DefaultFor::Read, DefaultFor::Write, DefaultFor::Mix],
    kernel_switch: Some("kernel.io_uring_disabled"),
    fio: Fio::Engine(FioEngine::new("io_uring", None, URING_FIO_OPTIONS)),
    ..Info::COPIES_BY_CALL
};

/// With `+nop`.
const URING_NOP: Info = Info {
    id: "uring+nop",
    title: "io_uring(7) no-op",
    about: "operations that do nothing: the cost of the ring itself",
    doc: URING_ENTRY.doc,
    depth: URING_ENTRY.depth,
    options: URING_ENTRY.options,
    kernel_switch: URING_ENTRY.kernel_switch,
    // One call serves many operations at a higher depth.
    relative_cost: 2.0,
    ..Info::MOVES_NOTHING
};

pub static SEEK: Info = Info {
    id: "seek",
    identity: Identity::new(2, Shape::Letter, 'K', ('ξ', ')')),
    title: "lseek(2)",
    about: "sets the file position and moves no data: the cost of a system call",
    doc: "One lseek per operation, to the block's offset. No data moves, so its rate shows \
          the cost of entering and leaving the kernel.",
    options: &[LIBC],
    relative_cost: 1.6,
    default_for: &[DefaultFor::Seek],
    ..Info::MOVES_NOTHING
};

pub static READV: Info = Info {
    id: "readv",
    identity: Identity::new(1, Shape::Letter, 'V', ('χ', '<')),
    title: "preadv(2)",
    write_call: Some("pwritev(2)"),
    about: "copies a block at an offset into 8 parts of a buffer with one call",
    doc: "One preadv (or pwritev) per block, into 8 vectors of an eighth of the block each \
          (fewer where a block has fewer bytes, or with --direct fewer sectors): the cost \
          of reading into many small buffers, such as the pages of a database. 8 is the \
          most that the kernel takes without allocating memory for the list; +parts=N sets \
          another number. The parts are adjacent in one buffer, which makes no difference \
          to the kernel: it walks the list and never merges neighbours.",
    options: &[PARTS, ATIME, SEQUENTIAL, RANDOM, WILL_NEED],
    fio: Fio::Engine(
        FioEngine::new("pvsync", Some(1), ADVICE_IN_FIO)
            .with_note("fio reads into one vector for each block"),
    ),
    ..Info::COPIES_BY_CALL
};

pub static PREADV2: Info = Info {
    id: "preadv2",
    identity: Identity::new(0, Shape::Letter, 'W', ('ω', '>')),
    title: "preadv2(2)",
    write_call: Some("pwritev2(2)"),
    about: "copies a block at an offset into one buffer, with per-operation flags",
    doc: "One preadv2 (or pwritev2) per block with one vector; without an option it is \
          equivalent to pread. +nowait reads only what is cached (RWF_NOWAIT); what is \
          missing is then read by a plain pread: both calls are counted, and the miss has \
          already started readahead. Servers do so to answer from memory at once and leave \
          the rest to a thread. +dontcache (RWF_DONTCACHE, Linux 6.14) drops each page \
          once it has been copied or written to the device, as for a scan or a backup that \
          leaves the page cache to others. What was cached before stays cached.",
    syncs: Sync::OF_FLAGGED_WRITES,
    options: &[NO_WAIT, DONT_CACHE, ATIME, SEQUENTIAL, RANDOM, WILL_NEED],
    fio: Fio::Engine(FioEngine::new("pvsync2", Some(1), PREADV2_FIO_OPTIONS)),
    ..Info::COPIES_BY_CALL
};

pub static SIMD_COPY: Info = Info {
    id: "simd-copy",
    identity: Identity::new(2, Shape::Letter, 'Q', ('θ', '{')),
    title: "mmap(2) + wide copy",
    about: "maps the file and copies each block with AVX-512, AVX2 or 64-bit words",
    doc: "Like mmap-copy, but with its own copy loop instead of the C library's: the \
          widest loads and stores of this CPU, chosen at run time (AVX-512, AVX2, else \
          64-bit words, which compile to NEON on arm64). +nt uses non-temporal stores, \
          which bypass the caches (x86-64): the destination line is not read from memory \
          first and evicts no other. That is faster for blocks much larger than the \
          last-level cache that are not used again soon, and slower otherwise, as the XOR \
          then reads them back from memory. The C library switches to such stores by \
          itself above about 3/4 of the last-level cache.",
    data_path: DataPath::Copied,
    syncs: MAPPING_SYNCS,
    direct: false,
    appends: false,
    options: &[NON_TEMPORAL, POPULATE, HUGE, SEQUENTIAL, RANDOM, WILL_NEED],
    fio: Fio::Unavailable(
        "fio copies with the C library's memcpy: it has no engine of wide stores",
    ),
    ..Info::COPIES_BY_CALL
};

pub static AIO: Info = Info {
    id: "aio",
    identity: Identity::new(4, Shape::Left, 'A', ('α', '@')),
    title: "io_submit(2)",
    write_call: Some("io_submit(2) write"),
    about: "Linux native asynchronous I/O: many operations in flight, with --direct",
    doc: "All free slots are filled, one io_submit starts them and one io_getevents waits \
          for at least one: two system calls per round. Only with --direct are operations \
          really in flight together: a buffered read is complete before io_submit returns, \
          so depth only saves system calls there. Random direct operations are submitted \
          two at a time: the kernel would hold more in one call back until it has seen all \
          of them. Databases used it (libaio) before \
          io_uring, which needs one call where this needs two.",
    common: true,
    depth: Depth::UpTo(4096),
    mixes: true,
    syncs: Sync::OF_FLAGGED_WRITES,
    fio: Fio::Engine(FioEngine::new("libaio", None, &[])),
    ..Info::COPIES_BY_CALL
};

pub static SENDFILE: Info = Info {
    id: "sendfile",
    identity: Identity::new(3, Shape::Letter, 'E', ('ε', '}')),
    title: "sendfile(2)",
    about: "sends a block within the kernel, to /dev/null or to a socket that is read",
    doc: "One sendfile per block, to /dev/null: the kernel splices through an internal \
          pipe in pieces of 64 KiB. Uncached pages are read from the device, but /dev/null \
          drops the references without reading a byte, so the figure is the cost of a file \
          server before the network, without any copy. +socket sends to a Unix stream \
          socket and reads its other end in the same thread: one copy, made by the reader, \
          as when a web server serves a program on the same machine; the read calls are \
          counted, too. The program does not see the data of the file as such, so there is \
          no XOR.",
    data_path: DataPath::InKernel,
    ops: &[Op::Read],
    direct: false,
    appends: false,
    options: &[SOCKET, SEQUENTIAL, RANDOM, WILL_NEED],
    fio: Fio::Unavailable("fio has no engine of sendfile(2)"),
    ..Info::COPIES_BY_CALL
};

pub static SPLICE: Info = Info {
    id: "splice",
    identity: Identity::new(5, Shape::Letter, 'L', ('β', '[')),
    title: "splice(2)",
    about: "moves page-cache pages through a pipe to /dev/null without copying any data",
    doc: "For each block a splice from the file into a pipe and one from the pipe to \
          /dev/null, repeated whenever the pipe is full (its size is raised to a block \
          where the system allows it, else it is 64 KiB). Only references to cached pages \
          move: uncached data is read from the device first, but no data is ever copied \
          and nothing reaches the program, so there is no XOR. Its rate is that of reading \
          without the copy: the cost of finding pages and passing them on.",
    data_path: DataPath::InKernel,
    ops: &[Op::Read],
    direct: false,
    appends: false,
    options: &[SEQUENTIAL, RANDOM, WILL_NEED],
    fio: Fio::Engine(
        FioEngine::new("splice", None, ADVICE_IN_FIO)
            .with_note("fio maps the pages of the pipe and looks at them, iotui drops them"),
    ),
    ..Info::COPIES_BY_CALL
};

pub static COPY_RANGE: Info = Info {
    id: "copy-range",
    identity: Identity::new(1, Shape::Letter, 'G', ('γ', ']')),
    title: "copy_file_range(2)",
    about: "copies a block to an unnamed file next to the target, inside the kernel",
    doc: "One copy_file_range per block, into an unnamed temporary file (O_TMPFILE) on the \
          same file system, at the same offset. All threads together use at most the space \
          of the span, which is free again when the trial ends. ext4 and others copy from \
          page to page in memory, and the dirty pages are written back later, outside the \
          measured time. File systems with reflinks (btrfs, XFS, bcachefs) may share the \
          blocks instead of copying them: the result is then marked, and its rate is one \
          of metadata. Servers (NFS, SMB) may copy without moving the data at all. Nothing \
          reaches the program, so there is no XOR.",
    data_path: DataPath::InKernel,
    ops: &[Op::Read],
    direct: false,
    appends: false,
    fio: Fio::Unavailable("fio has no engine of copy_file_range(2)"),
    ..Info::COPIES_BY_CALL
};

pub static TOKIO: Info = Info {
    id: "tokio",
    identity: Identity::new(0, Shape::Letter, 'T', ('τ', '~')),
    title: "tokio::fs",
    write_call: Some("tokio::fs write"),
    about: "asynchronous files of Rust's tokio: a pool thread makes each call",
    doc: "One read (or write and flush) of a tokio::fs::File per block, after a seek where \
          the order jumps, awaited one after the other. tokio uses no asynchronous read of \
          Linux: each call goes to a pool thread, which calls read(2) into tokio's own \
          buffer (at most 2 MiB at a time), and the data is copied from there. An \
          operation therefore costs a copy and two thread switches more than read, visible \
          in CPU time and voluntary switches. Each iotui thread has its own runtime with \
          one pool thread, whose CPU time counts as system time. The system calls are the \
          reads and writes that the kernel counts for it (/proc/PID/task/TID/io) plus one \
          lseek per seek, without the futex calls for waking and waiting.",
    direct: false,
    options: &[SEQUENTIAL, RANDOM],
    fio: Fio::Unavailable("fio has no engine of an asynchronous runtime"),
    ..Info::COPIES_BY_CALL
};

pub static MAP_UNMAP: Info = Info {
    id: "map-unmap",
    identity: Identity::new(3, Shape::Letter, 'Z', ('ζ', '"')),
    title: "mmap(2) + munmap(2)",
    about: "maps and unmaps a block: the cost of a mapping, without its data",
    doc: "For each block one mmap of its pages and one munmap: two system calls, and no \
          data. Nothing is read, cached or not, as pages are loaded only on access. +touch \
          reads one byte of every page before the munmap, which adds page faults and the \
          clearing of page tables and TLBs, and reads cold pages from the device; as no \
          other byte is read, its rate is in operations, not bytes, per second. Compared \
          with mmap (mapped once) it shows when a new mapping costs more than a copy by \
          pread.",
    relative_cost: 30.0,
    ops: &[Op::Read],
    cached: true,
    options: &[TOUCH],
    ..Info::MOVES_NOTHING
};

pub static GETPID: Info = Info {
    id: "getpid",
    identity: Identity::new(4, Shape::Letter, 'I', ('Γ', '*')),
    title: "getpid(2)",
    about: "returns the process id: the cost of entering the kernel, without a file",
    doc: "One getpid per operation, always as a real system call. It uses no file and \
          moves no data, so it costs only the entry to the kernel and back, which is part \
          of every other call. lseek (seek) adds the lookup of the open file.",
    relative_cost: 1.2,
    ..Info::MOVES_NOTHING
};

pub static DD: Info = Info {
    id: "dd",
    identity: Identity::new(5, Shape::Letter, 'D', ('δ', '`')),
    title: "dd(1)",
    about: "external program: reads blocks in order and discards them",
    doc: "dd if=FILE of=/dev/null bs=BLOCK count=N: one read(2) and one write(2) to /dev/null per block, in one thread and in order. The time is what dd prints and leaves out its start-up; CPU time and page faults cover the whole process. It reads the file at most once, so a small file means short trials. A partial last block of the file is skipped.",
    data_path: DataPath::InPeer,
    ops: &[Op::Read],
    appends: false,
    fio: Fio::Engine(
        FioEngine::new("sync", None, &[]).with_note("dd writes each block to /dev/null as well"),
    ),
    ..Info::COPIES_BY_CALL
};

/// Returns the engine's option in a job file.
const fn in_job_file(option: &Opt) -> FioOption {
    FioOption::new(option.name, "ioengine", option.name)
}

pub static FIO: Info = Info {
    id: "fio",
    identity: Identity::new(3, Shape::Letter, 'F', ('φ', ',')),
    title: "fio(1)",
    about: "external program: the flexible I/O tester, with its cheapest accounting",
    doc: "fio --output-format=json --readonly --thread --allow_file_create=0 --disk_util=0 --invalidate=0 --fadvise_hint=0 \
          --iomem_align=4096 --gtod_reduce=1 --filename --ioengine --rw --bs --direct --iodepth --randseed, for each thread --name \
          --offset --size --io_size, and --runtime to calibrate: the same blocks of the same file, in the same number of threads, by \
          the engine that an option names. With --gtod_reduce it records no latencies and reads its clock as rarely as possible. The time is what fio reports, in whole milliseconds, and leaves out its start-up of a quarter of a second; CPU time, page faults and context switches are what fio reports for its threads. A partial last block of the file is skipped.",
    data_path: DataPath::InPeer,
    ops: &[Op::Read],
    depth: Depth::UpTo(Job::MAX_DEPTH),
    appends: false,
    options: &FIO_ENGINES,
    fio: Fio::Engine(FioEngine::new(
        FIO_ENGINES[0].name,
        None,
        &[
            in_job_file(&FIO_ENGINES[0]),
            in_job_file(&FIO_ENGINES[1]),
            in_job_file(&FIO_ENGINES[2]),
            in_job_file(&FIO_ENGINES[3]),
        ],
    )),
    ..Info::COPIES_BY_CALL
};

/// The most vectors of one call that the kernel takes (UIO_MAXIOV).
pub const MAX_PARTS: u64 = 1024;

/// Opens the file as ordinary programs do, for the backends that copy one block per call. Otherwise
/// files are opened with `O_NOATIME`, as fio does: measuring then does not change the access time.
pub const ATIME: Opt = Opt::flag(
    "atime",
    "opens without O_NOATIME, as most programs do: each read checks whether to update the \
            access time",
);

pub const SHARED: Opt = Opt::flag(
    "shared",
    "threads take the next 2 MiB (or block) when they are free, instead of a part of the \
            file each, so that a slow CPU does not delay the end",
);

pub const SEQUENTIAL: Opt = Opt::flag(
    "sequential",
    "advises the kernel of sequential access, so that it reads further ahead \
            (POSIX_FADV_SEQUENTIAL, or madvise)",
);

pub const RANDOM: Opt = Opt::flag(
    "random",
    "advises the kernel of random access, which turns readahead off \
            (POSIX_FADV_RANDOM, or madvise)",
);

pub const WILL_NEED: Opt = Opt::flag(
    "willneed",
    "starts reading the thread's whole part into the page cache (POSIX_FADV_WILLNEED, or \
            madvise), within the timed work",
);

/// The same advice in fio.
pub const ADVICE_IN_FIO: &[FioOption] = &[SEQUENTIAL_IN_FIO, RANDOM_IN_FIO];

pub const SEQUENTIAL_IN_FIO: FioOption =
    FioOption::new(SEQUENTIAL.name, "fadvise_hint", SEQUENTIAL.name);

pub const RANDOM_IN_FIO: FioOption = FioOption::new(RANDOM.name, "fadvise_hint", RANDOM.name);

/// Uses libc's wrapper; for `read`, `pread` and `seek`.
pub const LIBC: Opt = Opt::flag(
    "libc",
    "calls the C library's wrapper, as most programs do, instead of an inlined system call",
);

/// The equivalent in fio, which always calls through the C library.
pub const CALL_FIO_OPTIONS: &[FioOption] =
    &[FioOption::always(LIBC.name), SEQUENTIAL_IN_FIO, RANDOM_IN_FIO];

/// How stores into a mapping can be made durable; they wait for nothing by themselves.
pub const MAPPING_SYNCS: &[Sync] =
    &[Sync::None, Sync::End, Sync::Fdatasync, Sync::Fsync, Sync::Msync];

pub const MAPPING_OPTIONS: &[Opt] = &[SHARED, POPULATE, HUGE, SEQUENTIAL, RANDOM, WILL_NEED];

pub const POPULATE: Opt = Opt::flag(
    "populate",
    "fills the page tables before the first block (MADV_POPULATE_READ), within the timed \
            work; where the order jumps, for the thread's whole part",
);

pub const HUGE: Opt = Opt::flag("huge", "requests 2 MiB pages (MADV_HUGEPAGE)");

pub const SQPOLL: Opt = Opt::flag(
    "sqpoll",
    "a kernel thread takes submissions: system calls only wait for completions, or wake it \
            up after 50 ms; its CPU time is counted",
);

pub const IOPOLL: Opt = Opt::flag(
    "iopoll",
    "polls the device for completions instead of waiting for its interrupts \
            (IORING_SETUP_IOPOLL), with --direct; the device needs poll queues",
);

pub const SUBMIT: Opt = Opt {
    name: "submit",
    value: Some(OptValue::number(Job::MAX_DEPTH as u64)),
    about: "one call submits at most N operations; 2 for random direct ones if omitted, otherwise \
            all there are",
};

pub const COMPLETE: Opt = Opt {
    name: "complete",
    value: Some(OptValue::number(Job::MAX_DEPTH as u64)),
    about: "one call waits for at least N completions, or for all in flight if those are fewer; 1 \
            if omitted",
};

pub const NOP: Opt = Opt::flag(
    "nop",
    "operations that do nothing (IORING_OP_NOP) and move no data: the cost of the ring \
            itself",
);

/// `fixed` is only read: a run of iotui registers its buffers by itself.
pub const URING_FIO_OPTIONS: &[FioOption] = &[
    FioOption::new(SQPOLL.name, "sqthread_poll", "1"),
    FioOption::new(IOPOLL.name, "hipri", "1"),
    FioOption::number(SUBMIT.name, "iodepth_batch"),
    FioOption::number(COMPLETE.name, "iodepth_batch_complete_min"),
    FioOption::new("fixed", "fixedbufs", "1"),
    SEQUENTIAL_IN_FIO,
    RANDOM_IN_FIO,
];

pub const PARTS: Opt = Opt {
    name: "parts",
    value: Some(OptValue::number(MAX_PARTS)),
    about: "number of vectors, 1 to 1024",
};

pub const NO_WAIT: Opt =
    Opt::flag("nowait", "reads what is cached (RWF_NOWAIT), then the rest by pread");

pub const DONT_CACHE: Opt =
    Opt::flag("dontcache", "leaves nothing new in the page cache (RWF_DONTCACHE, Linux 6.14)");

pub const PREADV2_FIO_OPTIONS: &[FioOption] = &[
    FioOption::new("nowait", "nowait", "1"),
    FioOption::new("dontcache", "uncached", "1"),
    SEQUENTIAL_IN_FIO,
    RANDOM_IN_FIO,
];

pub const NON_TEMPORAL: Opt =
    Opt::flag("nt", "uses non-temporal stores, which bypass the caches (x86-64)");

pub const SOCKET: Opt =
    Opt::flag("socket", "sends to a Unix stream socket, whose other end the same thread reads");

pub const TOUCH: Opt =
    Opt::flag("touch", "reads one byte of every page of the block while it is mapped");

/// The engines of the peer fio; the first is the default.
pub const FIO_ENGINES: [Opt; 4] = [
    Opt::flag("psync", "engine psync: pread(2); the default"),
    Opt::flag("libaio", "engine libaio: io_submit(2), with --depth"),
    Opt::flag("io_uring", "engine io_uring, with --depth"),
    Opt::flag("mmap", "engine mmap: copies from a mapping"),
];
