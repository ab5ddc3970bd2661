# What the stacks of stacks.txt are made of. $W is a folder on a disk, $K a program of this bench.
# A stack sets $T, the file or device to read, and $D, the folder to write to; empty: nothing.
set -e
T= D= LOOPS= ZRAMS= KEEPERS= TOLD=

# Removes all that was made, the last first; runs also where a step failed.
clean() {
    set +e
    cd /
    for mounted in $(awk -v w="$W/" 'index($2, w) == 1 {print $2}' /proc/self/mounts | tac); do
        umount "$mounted" 2>/dev/null || umount -l "$mounted"
    done
    for device in $LOOPS; do
        # The device keeps it for its next file.
        [ -z "$TOLD" ] || echo "write back" >"/sys/block/${device#/dev/}/queue/write_cache"
        losetup -d "$device"
    done
    for keeper in $KEEPERS; do kill "$keeper"; done
    for number in $ZRAMS; do
        echo 1 >"/sys/block/zram$number/reset"
        echo "$number" >/sys/class/zram-control/hot_remove
    done
    rm -rf "$W"
}
trap clean EXIT
trap 'exit 143' TERM INT HUP

# Makes a folder and mounts something there, with the arguments of mount(8).
put() {
    at=$1
    shift
    mkdir -p "$at"
    mount "$@" "$at"
}

# Makes a file of $2 MiB of random bytes; all of it is on the disk.
full() {
    mkdir -p "$(dirname "$1")"
    head -c "${2:-24}M" /dev/urandom >"$1"
    sync "$1"
}

# Makes files of $2 MiB without data, with half of it, and with space for it.
sparse() { truncate -s "${2:-24}M" "$1"; }
half() { sparse "$1" && head -c 4M /dev/urandom | dd of="$1" conv=notrunc status=none; sync "$1"; }
fallocated() { fallocate -l "${2:-24}M" "$1"; sync "$1"; }

# Makes a loop device of a file, with the options of losetup(8): $L.
attach() {
    L=$(losetup --find --show "$@")
    LOOPS="$L $LOOPS"
}

# Makes a zram device: $Z.
zram() {
    number=$(cat /sys/class/zram-control/hot_add)
    ZRAMS="$number $ZRAMS"
    echo "${1:-64}M" >"/sys/block/zram$number/disksize"
    Z=/dev/zram$number
}

# Formats the device $2 with the file system $1 and mounts it at $M.
fresh() {
    case $1 in
        ext4) mkfs.ext4 -q -F -O ^resize_inode -E lazy_itable_init=0,lazy_journal_init=0 "$2" ;;
        *) "mkfs.$1" -q -f "$2" ;;
    esac
    M=$W/m
    put "$M" -t "$1" -o "${3:-defaults}" "$2"
}

# Has $T and $D in a folder.
data() {
    full "$1/data" 8
    T=$1/data D=$1
}

# The rows. Each name is a function, its arguments are options.

plain() { data "$W/files"; }
symlinked() { plain && ln -s data "$D/link" && T=$D/link; }
linked() { plain && ln "$T" "$D/other" && T=$D/other; }
bound() { mkdir -p "$W/files" && put "$W/bound" --bind "$W/files" && data "$W/bound"; }
bound_read_only() { plain && put "$W/bound" -o bind,ro "$W/files" && T=$W/bound/data D=; }
with_holes() { mkdir -p "$W/files" && "$1" "$W/files/data" 8 && T=$W/files/data; }
swap_file() {
    full "$W/swap" 16 && mkswap -q "$W/swap" 2>/dev/null || mkswap "$W/swap" >/dev/null
    T=$W/swap
}

# A loop device: the kind of its file, then options of losetup.
looped() {
    kind=$1
    shift
    "$kind" "$W/img" 24 && attach "$@" "$W/img" && T=$L
}

# A file system on a loop device: its type, its options, then options of losetup.
mounted() {
    type=$1 options=$2
    shift 2
    size=64
    case $type in btrfs) size=160 ;; xfs) size=320 ;; esac
    sparse "$W/img" $size && attach "$@" "$W/img" && fresh "$type" "$L" "$options" && data "$M"
}

squashed() {
    mkdir -p "$W/files" && full "$W/files/data" 8
    mksquashfs "$W/files" "$W/img" -quiet -no-progress >/dev/null
    attach "$W/img" && put "$W/m" -t squashfs -o ro "$L" && T=$W/m/data
}
eroded() {
    mkdir -p "$W/files" && full "$W/files/data" 8
    mkfs.erofs --quiet "$W/img" "$W/files" >/dev/null
}
erofs_on_loop() { eroded && attach "$W/img" && put "$W/m" -t erofs -o ro "$L" && T=$W/m/data; }
erofs_on_file() { eroded && "$K" mount-file erofs "$W/img" "$W/m" && T=$W/m/data; }

# A loop device over a file in a folder that is mounted in some way; $1 makes the folder: $F.
in_tmpfs() { F=$W/f && put "$F" -t tmpfs -o size=400m none; }
in_ramfs() { F=$W/f && put "$F" -t ramfs none; }
in_overlay_of_tmpfs() { mkdir -p "$W/lower" && upper_in_tmpfs && F=$W/o; }
in_btrfs() {
    sparse "$W/under" 320 && attach "$W/under" && fresh btrfs "$L" "${1:-defaults}" && F=$M
}
in_nobarrier() { sparse "$W/under" 200 && attach "$W/under" && fresh ext4 "$L" nobarrier && F=$M; }
in_fuse() { mkdir -p "$W/files" "$W/f" && bindfs "$W/files" "$W/f" && F=$W/f; }
loop_over() {
    "$@" && full "$F/img" 24 && attach $OPTIONS "$F/img" && T=$L
}
ext4_over() {
    "$@" && sparse "$F/img" 64 && attach $OPTIONS "$F/img"
    under=$M
    mkfs.ext4 -q -F "$L" && put "$W/top" -t ext4 "$L" && data "$W/top"
}
on_deleted() { full "$W/img" 24 && attach "$W/img" && rm "$W/img" && T=$L; }
on_deleted_in_tmpfs() { in_tmpfs && full "$F/img" 24 && attach "$F/img" && rm "$F/img" && T=$L; }
# Another file of the same name, on the disk, is not what the device is made of.
on_shadowed() {
    in_tmpfs && full "$F/img" 24 && attach "$F/img" && T=$L
    mkdir "$W/other" && full "$W/other/img" 24 && put "$F" --bind "$W/other"
}
on_memfd() { keep memfd 24 && attach "$KEPT" && T=$L; }
# Starts a helper that keeps something until it is ended, and names it: $KEPT.
keep() {
    TMPDIR=$W "$K" "$@" >"$W/kept" &
    KEEPERS="$! $KEEPERS"
    for _ in $(seq 100); do
        [ -s "$W/kept" ] && break
        sleep 0.1
    done
    KEPT=$(cat "$W/kept")
}
on_zram() { zram && full_device "$Z" && attach "$Z" && T=$L; }
full_device() { head -c 24M /dev/urandom >"$1"; sync; }
loop_on_loop() { full "$W/img" 24 && attach "$@" "$W/img" && attach "$@" "$L" && T=$L; }
loops_of_loops() {
    full "$W/img" 24 && attach "$W/img"
    for _ in 1 2 3 4 5; do attach "$L"; done
    T=$L
}

# Overlays. The upper folder is in $1, the lower one in $2.
overlay() {
    mkdir -p "$1/upper" "$1/work" "$2"
    put "$W/o" -t overlay \
        -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work${3:+,$3}" none
}
upper_in_tmpfs() { put "$W/t" -t tmpfs -o size=200m none && overlay "$W/t" "$W/lower" "$@"; }
overlay_on_disk() {
    full "$W/lower/data" 8 && overlay "$W/u" "$W/lower" "$@" && T=$W/o/data D=$W/o
}
overlay_in_tmpfs() { full "$W/lower/data" 8 && upper_in_tmpfs && T=$W/o/data D=$W/o; }
overlay_written_in_tmpfs() { upper_in_tmpfs && data "$W/o"; }
overlay_of_tmpfs() {
    put "$W/lower" -t tmpfs none && full "$W/lower/data" 8 && overlay "$W/u" "$W/lower"
    T=$W/o/data
}
overlay_of_squashfs() { squashed && overlay "$W/u" "$W/m" && T=$W/o/data D=$W/o; }
overlay_of_overlay() {
    overlay_in_tmpfs && mkdir -p "$W/t/up" "$W/t/wk"
    put "$W/top" -t overlay -o "lowerdir=$W/o,upperdir=$W/t/up,workdir=$W/t/wk" none
    T=$W/top/data D=$W/top
}
overlay_on_loop_in_tmpfs() {
    ext4_over in_tmpfs && full "$W/lower/data" 8 && overlay "$W/top/u" "$W/lower"
    T=$W/o/data D=$W/o
}
overlay_on_zram() { ext4_on_zram && overlay "$M/u" "$W/lower" && data "$W/o"; }

# Memory.
in_memory() { in_tmpfs && data "$F"; }
in_ram() { in_ramfs && data "$F"; }
bound_memory() { in_tmpfs && mkdir "$F/d" && put "$W/bound" --bind "$F/d" && data "$W/bound"; }
bound_memory_file() {
    in_tmpfs && full "$F/data" 8 && : >"$W/data" && mount --bind "$F/data" "$W/data" && T=$W/data
}
zram_alone() { zram && full_device "$Z" && T=$Z; }
ext4_on_zram() { zram && fresh ext4 "$Z" && data "$M"; }

# Programs.
fuse() { in_fuse && data "$F"; }
fuse_with() { mkdir -p "$W/files" "$W/f" && bindfs "$@" "$W/files" "$W/f" && data "$W/f"; }
merged() {
    mkdir -p "$W/files" "$W/f" && mergerfs -o "$1" "$W/files" "$W/f" && data "$W/f"
}
fuse_of_tmpfs() {
    in_tmpfs && mkdir "$W/g" && bindfs "$F" "$W/g" && data "$W/g"
}
# A store of $2 MiB that loses what is written beyond $1 MiB.
losing() {
    keep lose "$1" "${2:-64}" && attach "$KEPT" && fresh ext4 "$L" && D=$M
}

# What keeps a flush from the disk.
unflushed() { mounted ext4 "$1"; }
told_otherwise() {
    sparse "$W/img" 64 && attach "$W/img"
    TOLD=yes
    echo "write through" >"/sys/block/${L#/dev/}/queue/write_cache"
    fresh ext4 "$L" && data "$M"
}
