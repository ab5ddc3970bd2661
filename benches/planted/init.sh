#!/bin/sh
# Plants what /plant says, commits there as /line says, and sends what iotui found to the second
# serial port: the first has the messages of the kernel.
export PATH=/bin HOME=/root
# No udev is here to make the nodes of mapped devices.
export DM_DISABLE_UDEV=1

mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
while read -r module; do
    insmod "/modules/$module" || echo "init: $module cannot be loaded"
done </modules/order

# Disks appear some time after their driver.
tries=0
until d=$(ls /sys/block | grep -E '^(sd|vd|nvme|mmcblk)'); do
    tries=$((tries + 1))
    [ $tries -gt 150 ] && break
    sleep 0.1
done
export d D="/dev/$d"

# Commits of $2 bytes by another program in the folder $1, which are counted with those of iotui.
cat >/bin/neighbour <<'END'
iotui --batch --quiet --no-save --ceilings never --op write -b pread -s "$2" --size 16m \
    --sync fdatasync --trials 1000 --trial-time 100ms --budget 90s --dir "$1" >/dev/null 2>&1 &
# It measures before it commits.
sleep 3
END
chmod +x /bin/neighbour

cat /setup /plant >/script
if sh -e /script; then
    iotui --batch --quiet --no-save --ceilings never --format json --op write --trials 3 \
        --trial-time 100ms $(cat /line) >/dev/ttyS1 || echo "init: iotui failed"
else
    echo "init: this cannot be planted"
fi
poweroff -f
