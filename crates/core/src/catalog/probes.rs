//! The descriptions of all probes.

use crate::plan::{Group, ProbeInfo, ProbeParam, RangeOf};

/// The most bytes of a message of the network probes.
pub const MAX_ECHO: u64 = 64 << 10;
/// The least bytes that the probes of cached files read.
pub const MIN_CACHED_BYTES: u64 = 1 << 20;
/// The most bytes that the probes of files read.
pub const MAX_SCANNED_BYTES: u64 = 1 << 30;
/// The most processes that contend.
pub const MAX_PROCESSES: u64 = 32;
/// The size of the file that the probe of fsync writes to.
pub const FSYNC_FILE_BYTES: u64 = 4 << 20;

pub static CLOCK: ProbeInfo = ProbeInfo {
    id: "clock",
    group: Group::Cpu,
    title: "clock reading",
    about: "the cost of reading a clock, and its resolution",
    doc: "Reads one clock in a loop and subtracts the loop itself. The CPU's counter (rdtsc, \
          cntvct) is read by one instruction; the ordered form (rdtscp, isb) first waits for \
          everything before it. CLOCK_MONOTONIC reads the same counter in the vDSO, kernel code \
          mapped into every process, and adds the kernel's base; the coarse clock returns the \
          value stored by the last timer tick, and the thread's CPU time needs a system call. The \
          resolution is the smallest difference between two readings that differ. Anything timed \
          by a clock is uncertain by one reading and one step, which is why batches are long.",
    makes_files: false,
    params: &[],
};

pub static EMPTY_LOOP: ProbeInfo = ProbeInfo {
    id: "loop",
    group: Group::Cpu,
    title: "empty loop",
    about: "one iteration of an empty loop",
    doc: "Counts down to zero and does nothing else, with a barrier that keeps the compiler from \
          removing the loop. Everything measured in a loop includes this time, so it is subtracted \
          from every other value. An iteration is one addition and one correctly predicted branch: \
          one cycle, or two where the loop crosses an instruction-cache boundary.",
    makes_files: false,
    params: &[],
};

pub static CALL: ProbeInfo = ProbeInfo {
    id: "call",
    group: Group::Cpu,
    title: "function call",
    about: "a call of an empty function with 0 to 7 arguments, and its return",
    doc: "Calls an empty function through a pointer, so that the compiler can neither inline it \
          nor drop an argument, and subtracts the loop around it. The slope over the number of \
          arguments is the cost of one more: on x86-64 the first six are passed in registers and \
          the seventh on the stack, on aarch64 all seven in registers. Calls and returns are \
          predicted, so they take only a few cycles; unoptimised code also builds a stack frame \
          and stores every argument.",
    makes_files: false,
    params: &[],
};

pub static SYSCALL: ProbeInfo = ProbeInfo {
    id: "syscall",
    group: Group::Cpu,
    title: "system call",
    about: "getpid, getppid, read and write of one byte, stat, open and close: inlined and through \
            the C library",
    doc: "Makes one kind of system call in a loop and subtracts the loop itself. getpid does \
          almost nothing in the kernel: it is the cost of entering and leaving the kernel, with \
          this machine's mitigations against speculative execution. read takes one byte from \
          /dev/zero and write puts one to /dev/null, which adds the file layer but no data; stat \
          and open with close also resolve a path of two components, /dev/null (lmbench opens a \
          regular file with four, /usr/include/linux/types.h). Inlined, the syscall instruction is \
          in the loop, as in iotui's own backends; the C library adds a call and, on some CPUs, a \
          mispredicted return. The ratio to a function call is why batching pays off.",
    makes_files: false,
    params: &[],
};

pub static FORK: ProbeInfo = ProbeInfo {
    id: "fork",
    group: Group::Cpu,
    title: "process creation",
    about: "creating a process and waiting for it: fork, vfork, posix_spawn of true, fork and exec \
            of true",
    doc: "Creates a child that exits at once, and waits for it. fork copies the parent's page \
          tables, so it costs more the more memory the parent has; vfork borrows the memory until \
          the child exits, so it shows the cost of a process without that copy. spawn and exec \
          also load a program, true(1), with its dynamic linker and C library: most of that is \
          page faults. The wait is included, since the child has to run, and with it two context \
          switches.",
    makes_files: false,
    params: &[],
};

pub static THREAD: ProbeInfo = ProbeInfo {
    id: "thread",
    group: Group::Cpu,
    title: "thread creation",
    about: "creating and joining a thread, by pthread_create and pthread_join",
    doc: "Creates a thread that ends at once, and joins it. The C library reuses the stacks of \
          ended threads, so after the first one this is a task created by the kernel, a switch to \
          it and one back; no memory is copied, which is the difference to fork. The thread starts \
          on the same CPU.",
    makes_files: false,
    params: &[],
};

pub const SWITCH_PROCESS: ProbeInfo = ProbeInfo {
    id: "switch-process",
    group: Group::Cpu,
    title: "process switch",
    about: "half a round trip between two processes that wake each other by pipes or futexes",
    doc: "Two processes take turns: each wakes the other and sleeps. Half a round trip, minus the \
          cost of the same calls when nothing waits, is one switch: the scheduler's decision, the \
          other address space, its registers, and caches as the other process left them. On the \
          same CPU one runs while the other sleeps; across CPUs the other CPU has to be woken, \
          which on an idle virtual machine takes longer than a switch. Every round trip has one \
          switch on each side, and they are counted: voluntary if it sleeps, involuntary if the \
          woken process runs first.",
    makes_files: false,
    params: &[],
};

pub static SWITCH_THREAD: ProbeInfo = ProbeInfo {
    id: "switch-thread",
    title: "thread switch",
    about: "half a round trip between two threads that wake each other by pipes or futexes",
    doc: "Like switch-process, between two threads of one process: the address space stays the \
          same, which leaves the scheduler, the registers and the stack. The difference to \
          switch-process is the cost of changing the address space.",
    ..SWITCH_PROCESS
};

pub static SIGNAL: ProbeInfo = ProbeInfo {
    id: "signal",
    group: Group::Cpu,
    title: "signal",
    about: "installing a handler, delivering a signal to the calling thread, and kill(2) with signal 0",
    doc: "install sets the handler of a real-time signal that nothing else uses: one system call. \
          deliver sends that signal to its own thread: a system call, on its return a frame on the \
          stack, the handler, and another system call that removes the frame. The handler counts, \
          so every delivery is verified; the previous handler is restored afterwards. send is \
          kill(2) with signal 0 to its own process, which is checked but not delivered: deliver \
          minus send is what lmbench reports as signal handler overhead.",
    makes_files: false,
    params: &[],
};

pub static PIPE: ProbeInfo = ProbeInfo {
    id: "pipe",
    group: Group::Cpu,
    title: "pipe bandwidth",
    about: "throughput of a pipe and of a Unix socket to another process, 64 KiB at a time",
    doc: "Writes 64 KiB at a time to another process that reads them, and waits until it reports \
          that all arrived. Every byte is copied into the kernel and out again, so on one CPU half \
          the copy bandwidth is the limit; across CPUs the two copies overlap, but the data moves \
          from one CPU's cache to the other's. A pipe holds 64 KiB, so the two sides often wait \
          for each other.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes per write",
        of: RangeOf::Bytes,
        least: 1,
        most: 1 << 20,
        step: 1,
        usual: "64k",
    }],
};

pub static LATENCY: ProbeInfo = ProbeInfo {
    id: "latency",
    group: Group::Memory,
    title: "memory latency",
    about: "the time of one load by working-set size, 4 KiB to 1 GiB, in random order and by \
            stride",
    doc: "Chases pointers around a ring in memory: every slot holds the address of the next, so \
          each load waits for the one before. Without a stride, the slots are cache lines in \
          random order, which no prefetcher predicts; with one, they are that far apart and in \
          order, as in lmbench. While the ring fits in a cache, the time is that of the cache; the \
          curve over the size is a staircase whose steps are the caches and finally memory. Pages \
          are small, so beyond the reach of the TLB each random load also waits for a page walk: \
          the tlb probe measures that part alone.",
    makes_files: false,
    params: &[
        ProbeParam {
            name: "bytes",
            about: "working-set size",
            of: RangeOf::Bytes,
            least: 512,
            most: 1 << 40,
            step: 8,
            usual: "4k..1g",
        },
        ProbeParam {
            name: "stride",
            about: "distance between loads, 0 for lines in random order",
            of: RangeOf::Bytes,
            least: 0,
            most: 1 << 30,
            step: 8,
            usual: "0,64,256,1k",
        },
    ],
};

pub static BANDWIDTH: ProbeInfo = ProbeInfo {
    id: "bandwidth",
    group: Group::Memory,
    title: "memory bandwidth",
    about: "memory read, write and copy throughput, of one thread and of all CPUs together",
    doc: "Streams through memory larger than the last-level cache: read sums all words, write \
          fills, copy copies one half to the other. A copied byte counts once, although it is both \
          read and written. One thread is limited by the number of cache lines it can keep in \
          flight, all threads together by the memory itself. A plain write first reads the line it \
          fills, unless the CPU detects that the whole line will be overwritten, so write and copy \
          are slower than read. Memory is on huge pages where the kernel provides them.",
    makes_files: false,
    params: &[],
};

pub static PAGE_FAULT: ProbeInfo = ProbeInfo {
    id: "page-fault",
    group: Group::Memory,
    title: "page fault",
    about: "a page fault on new memory, the zero page, a huge page, a cached file, the device, \
            copy-on-write",
    doc: "Touches pages that are not mapped yet, and divides by the faults the kernel counted. \
          anonymous writes to new memory, which has to be cleared; zero only reads it and gets the \
          shared zero page; huge gets 2 MiB at once. file reads a mapped file whose pages are \
          cached: on each fault the kernel also maps the neighbours (16 pages); file-single has no \
          neighbours to map. major reads a file that is not cached, so each fault waits for the \
          device; cow writes to pages of a private mapping, each of which is copied. Mapping and \
          unmapping are not timed. This is the cost of mmap in the file experiments, per 4 KiB or \
          per 64 KiB.",
    makes_files: true,
    params: &[],
};

pub static MPROTECT: ProbeInfo = ProbeInfo {
    id: "mprotect",
    group: Group::Memory,
    title: "page protection",
    about: "mprotect of 1 and of 256 resident pages, to read-only and back",
    doc: "Makes pages read-only and writable again by mprotect(2), half of the calls each. Every \
          call changes the page-table entries and flushes their addresses from the TLB; making \
          pages read-only is more expensive, because a stale entry would still allow a write. The \
          pages are touched first, so that all are resident.",
    makes_files: false,
    params: &[ProbeParam {
        name: "pages",
        about: "pages per call",
        of: RangeOf::Count,
        least: 1,
        most: 1 << 20,
        step: 1,
        usual: "1,256",
    }],
};

pub static TLB: ProbeInfo = ProbeInfo {
    id: "tlb",
    group: Group::Memory,
    title: "TLB reach",
    about: "the time of one load by the number of pages, one cache line on each",
    doc: "Chases pointers around a ring with one slot per page, on a different line of every page \
          so that the cache sets are used evenly. So little data fits in the L1 and L2 caches; \
          what grows with the number of pages is address translation: it is free in the \
          first-level TLB, takes some cycles in the second, and beyond that a page walk, which \
          goes through two sets of page tables on a virtual machine. The number of pages at the \
          end of a step times the page size is the reach of that TLB.",
    makes_files: false,
    params: &[ProbeParam {
        name: "pages",
        about: "pages in the ring",
        of: RangeOf::Count,
        least: 2,
        most: 1 << 24,
        step: 1,
        usual: "8..32k",
    }],
};

pub static ROUND_TRIP: ProbeInfo = ProbeInfo {
    id: "rtt",
    group: Group::Network,
    title: "round trip",
    about: "round-trip time of a message, by TCP and by ping, over the loopback and to --remote",
    doc: "Sends a message over an open TCP connection (TCP_NODELAY) and waits until all of it is \
          back, again and again: four system calls, two context switches and two passes through \
          the kernel's network stack. Over the loopback that is all, and the far end runs on the \
          same CPU; with cpus 2 it runs on another, which has to be woken. To a remote machine \
          (iotui serve there, --remote HOST here) the link, the cards and the switches add to \
          that: the network's share is the remote figure minus the loopback figure. ping's echo is \
          answered by the other kernel without a program: the difference to TCP is the cost of the \
          remote program. ping reports whole microseconds, and the cost of its process is not in \
          its figure.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "message size in bytes; at least 16 for ping",
        of: RangeOf::Bytes,
        least: 1,
        most: MAX_ECHO,
        step: 1,
        usual: "56,1,1k",
    }],
};

pub static NETWORK_BANDWIDTH: ProbeInfo = ProbeInfo {
    id: "net-bandwidth",
    group: Group::Network,
    title: "network bandwidth",
    about: "TCP throughput by message size, over loopback and to --remote",
    doc: "Writes messages into a TCP connection as fast as it accepts them, until the far end \
          confirms that it has read all of them; the confirmation adds one network traversal per \
          batch. Cells without a size write 1 MiB at a time, which is the peak on most machines: \
          with small messages every system call carries few bytes. The connection is warmed up for \
          100 ms or 16 MiB, so that TCP slow start is over. Over the loopback every byte is copied \
          into the kernel and out of it, both on one CPU unless the cell has cpus 2; to a remote \
          machine the slowest link on the path is the limit, minus the packet headers.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes per message",
        of: RangeOf::Bytes,
        least: 1,
        most: 16 << 20,
        step: 1,
        usual: "1m,1k,4k,16k,64k,256k",
    }],
};

pub static CONNECT: ProbeInfo = ProbeInfo {
    id: "connect",
    group: Group::Network,
    title: "connection",
    about: "opening and closing a TCP connection, over the loopback and to --remote",
    doc: "Creates sockets and times connect(2) and close(2) separately, once per connection; no \
          data is sent. connect returns when the other end's kernel has answered, which is one \
          round trip and the setup of a connection at both ends; it does not wait until the remote \
          program accepts the connection, which over the loopback mostly happens afterwards. close \
          sends a last packet without waiting for the reply, so it costs about the same on any \
          network. A batch has at most 100 connections, because each keeps its port busy for a \
          minute.",
    makes_files: false,
    params: &[],
};

pub static FILE_CACHE: ProbeInfo = ProbeInfo {
    id: "file-cache",
    group: Group::Files,
    title: "page cache size",
    about: "how much of a file stays cached after it was read, and the time to read it again, by \
            file size",
    doc: "Reads an uncached file, counts how much of it is then cached, and reads it again: cached \
          data does not come from the device a second time. The page cache may use all free \
          memory, so filling it would push the whole machine to its limit. Where this process was \
          given its own control groups, a child reads a larger file inside a group of 128 MiB, so \
          the limit shows without touching the rest of memory. Elsewhere it reads at most 256 MiB \
          and a quarter of free memory, stops early when memory gets scarce, and the value is a \
          lower bound of what the cache holds. With a size, the value is the time of 4 KiB when a \
          file of that size is read again: up to the size of the cache it is copied from memory, \
          beyond it it comes from the device, and the curve has a step there. To find the limit of \
          the whole machine, use sizes on both sides of its free memory, such as --set \
          file-cache.bytes=8g,16g,24g,32g: files larger than 1 GiB are read outside any group and \
          evict the cached data of other files.",
    makes_files: true,
    params: &[ProbeParam {
        name: "bytes",
        about: "size of the file to read again",
        of: RangeOf::Bytes,
        least: MIN_CACHED_BYTES,
        most: 1 << 40,
        step: 1 << 20,
        usual: "16m,32m,64m,96m,128m,192m",
    }],
};

pub static FILE_READ: ProbeInfo = ProbeInfo {
    id: "file-read",
    group: Group::Files,
    title: "file read",
    about: "open, read in 4 KiB blocks (sequential or random) and close of a whole local file",
    doc: "Opens a file, reads all of it in 4 KiB blocks, and closes it; the value is the time of \
          the whole file. Both patterns make the same calls (pread), so on a cached file they \
          differ only by what the CPU's prefetchers predict. With cold, the file is dropped from \
          the page cache before each pass, which is verified and not timed: in sequential order \
          the kernel reads ahead and one request brings many blocks; in random order nearly every \
          block waits for the device. The bytes read from the device are counted.",
    makes_files: true,
    params: &[ProbeParam {
        name: "bytes",
        about: "size of the file, cached and cold",
        of: RangeOf::Bytes,
        least: 1,
        most: MAX_SCANNED_BYTES,
        step: 1,
        usual: "1890,11390,64k,1m,16m,64m; cold 64k,1m,4m",
    }],
};

pub static REMOTE_READ: ProbeInfo = ProbeInfo {
    id: "remote-read",
    group: Group::Files,
    title: "remote file read",
    about: "your file on a network or FUSE mount, read like a local one; the difference is the \
            cost of the network",
    doc: "Opens your file, reads its first bytes in 4 KiB blocks, sequentially or in random order, \
          and closes it, as file-read does with a local file of the same size; the extra time is \
          the cost of the network. It needs a file on a network or FUSE mount, named on the \
          command line, and only reads it. After the first read the file is also in this machine's \
          page cache: then only opening it asks the server, once per file, whether it changed; \
          some file systems drop their cache on open, which the evidence shows. With cold, this \
          machine's cache is dropped before each pass; the server's cache is not, so the result is \
          the speed of the network rather than of the server's disk.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes to read from the start of the file, cached and cold",
        of: RangeOf::Bytes,
        least: 1,
        most: MAX_SCANNED_BYTES,
        step: 1,
        usual: "1890,11390,64k,1m,16m,64m; cold 64k,1m,4m",
    }],
};

pub static CONTENTION: ProbeInfo = ProbeInfo {
    id: "contention",
    group: Group::Files,
    title: "contention",
    about: "the time of one 4 KiB block while 1, 2, 4 ... processes each read their own file from \
            the device",
    doc: "Each process reads its own 16 MiB file sequentially in 4 KiB blocks, all starting \
          together; the value is the mean time of one block in one process. All files are dropped \
          from the page cache before each batch, which is verified and not timed. The kernel reads \
          ahead, so a block costs its share of a longer request. If the time stays flat, the \
          device had capacity to spare; if it doubles with the number of processes, they share the \
          device or the CPUs.",
    makes_files: true,
    params: &[ProbeParam {
        name: "processes",
        about: "processes reading at the same time",
        of: RangeOf::Count,
        least: 1,
        most: MAX_PROCESSES,
        step: 1,
        usual: "1,2,4 .. twice the CPUs",
    }],
};

pub static METADATA: ProbeInfo = ProbeInfo {
    id: "metadata",
    group: Group::Files,
    title: "file metadata",
    about: "create, stat, rename and delete of an empty file",
    doc: "Works on up to 4096 empty files in its own folder, which is removed afterwards. create \
          opens a new file and closes it, stat looks up a file whose name is cached, rename \
          changes the name, delete removes the only name and with it the file. Nothing is forced \
          to the device: the kernel writes the journal later, so these are mostly CPU times, and \
          server times on a network mount. fsync measures the wait for the device. Where creating \
          or deleting is not what is measured, it is not timed. ext4 does not reuse an inode freed \
          within the last seconds, so after many deletions it searches longer for each new file.",
    makes_files: true,
    params: &[],
};

pub static FSYNC: ProbeInfo = ProbeInfo {
    id: "fsync",
    group: Group::Files,
    title: "fsync",
    about: "writing 0 B, 4 KiB and 1 MiB and waiting for fsync or fdatasync",
    doc: "Writes into a file whose blocks are already allocated, and waits until the device \
          reports that it has the data; the value is both together. fsync also writes the \
          modification time, which takes a journal commit; fdatasync skips that if the size did \
          not change. With 0 bytes nothing is written: that is the cost of the call itself. A \
          device with a volatile write cache has to flush it, and one that acknowledges at once \
          does not: the difference shows here. The kernel counts what the device wrote. The thread \
          is not pinned, because kernel threads do part of the work. The preset commit goes \
          further: percentiles of commits by every method, for several writers, and whether they \
          were durable.",
    makes_files: true,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes written before each call",
        of: RangeOf::Bytes,
        least: 0,
        most: FSYNC_FILE_BYTES,
        step: 1,
        usual: "0,4k,1m",
    }],
};
