# What the scripts of the plants are made of. $D is the disk, $d its name in /sys/block.
M=/dev/mapper/m
KEY=000102030405060708090a0b0c0d0e0f

# Mounts the disk at /m.
plain() { mount -t ext4 -o "${1:-rw}" "$D" /m; }

# Mounts it at /under, for what is planted above it.
under() { mount -t ext4 -o "${1:-rw}" "$D" /under; }

# Formats and mounts a device at a folder.
fresh() { mkfs.ext4 -q -F "$1" && mount -t ext4 "$1" "$2"; }

# Mounts an overlay of /under at /m.
overlay() {
    mkdir -p /under/lower /under/upper /under/work
    mount -t overlay -o "lowerdir=/under/lower,upperdir=/under/upper,workdir=/under/work$1" none /m
}

# Makes /dev/loop0 of a file in /under.
looped() {
    dd if=/dev/zero of=/under/file bs=1M count=0 seek=64 2>/dev/null
    losetup /dev/loop0 /under/file
}

# Has the kernel believe that a device has no volatile cache.
override() { echo "write through" >"/sys/block/$1/queue/write_cache"; }

# The same for a SCSI disk, by its driver.
override_type() {
    for type in "/sys/block/$d"/device/scsi_disk/*/cache_type; do
        echo "temporary write through" >"$type"
    done
}

# Divides the disk into $first and $second.
divided() {
    printf 'o\nn\np\n1\n\n+64M\nn\np\n2\n\n\nw\n' | fdisk "$D" >/dev/null
    first=/dev/$(ls "/sys/block/$d" | grep "^$d.*1$")
    second=/dev/$(ls "/sys/block/$d" | grep "^$d.*2$")
}

# Returns the table of a mapped device as long as the device $1.
table() {
    size=$(cat "/sys/class/block/${1##*/}/size")
    shift
    echo "0 $size $*"
}

# Makes /dev/mapper/m over the device $1, with the target $2 and its parameters.
mapped() { dmsetup create m --table "$(table "$@")"; }

# Has /dev/mapper/m confirm writes without making them.
dropping() {
    dmsetup suspend m
    dmsetup reload m --table "$(table "$1" flakey "$1" 0 0 3600 1 drop_writes)"
    dmsetup resume m
}
