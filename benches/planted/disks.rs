//! The disk of a machine: how it is attached, treats a flush and describes itself.

#[derive(Clone, Copy, PartialEq)]
pub enum Bus {
    Nvme,
    VirtioBlk,
    Ahci,
    Scsi,
    VirtioScsi,
    Usb,
    SdCard,
}

/// Evidence that machine and disk are emulated.
#[derive(Clone, Copy, PartialEq)]
pub enum Looks {
    /// CPU, firmware and the name of the disk.
    Virtual,
    /// The name of the disk alone.
    Hidden,
    /// The firmware alone.
    Firmware,
    /// Nothing.
    Physical,
}

#[derive(Clone, Copy)]
pub struct Disk {
    pub bus: Bus,
    pub looks: Looks,
    /// It confirms a flush and does nothing: all is in the memory of the host.
    pub ignores_flushes: bool,
    /// It says that it has no volatile cache, and flushes after each write.
    pub writes_through: bool,
    pub has_fua: bool,
    /// A folder of the host is shared too.
    pub shares_folder: bool,
    /// More options of the drive.
    pub host: &'static str,
}

pub const NVME: Disk = Disk::new(Bus::Nvme);
pub const VIRTIO: Disk = Disk::new(Bus::VirtioBlk);
pub const AHCI: Disk = Disk::new(Bus::Ahci);
pub const SCSI: Disk = Disk::new(Bus::Scsi);
pub const VIRTIO_SCSI: Disk = Disk::new(Bus::VirtioScsi);
pub const USB: Disk = Disk::new(Bus::Usb);
pub const SD_CARD: Disk = Disk::new(Bus::SdCard);

impl Disk {
    const fn new(bus: Bus) -> Disk {
        Disk {
            bus,
            looks: Looks::Virtual,
            ignores_flushes: false,
            writes_through: false,
            has_fua: false,
            shares_folder: false,
            host: "",
        }
    }

    pub const fn looks(self, looks: Looks) -> Disk {
        Disk { looks, ..self }
    }

    pub const fn physical(self) -> Disk {
        self.looks(Looks::Physical)
    }

    pub const fn ignoring(self) -> Disk {
        Disk { ignores_flushes: true, ..self }
    }

    pub const fn through(self) -> Disk {
        Disk { writes_through: true, ..self }
    }

    pub const fn with_fua(self) -> Disk {
        Disk { has_fua: true, ..self }
    }

    pub const fn sharing(self) -> Disk {
        Disk { shares_folder: true, ..self }
    }

    pub const fn host(self, host: &'static str) -> Disk {
        Disk { host, ..self }
    }
}
