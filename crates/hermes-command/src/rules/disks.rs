//! File systems, partitions and devices.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::Device;
use crate::value::Arg;

impl Judge {
    /// Programs about disks. Whether the name is one of them.
    pub(super) fn disks(&mut self, name: &str, args: &[Arg], env: &Env) -> bool {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let has = |wanted: &[&str]| texts.iter().any(|it| wanted.contains(it));
        let formats = Category::FilesystemFormat;
        let makes = name == "mkfs"
            || name.starts_with("mkfs.")
            || name.starts_with("mkfs_")
            || name.starts_with("newfs");
        match name {
            _ if makes
                || matches!(
                    name,
                    "mke2fs"
                        | "mkswap"
                        | "mkdosfs"
                        | "mkntfs"
                        | "mkexfatfs"
                        | "mkudffs"
                        | "make_f2fs"
                        | "mkreiserfs"
                        | "mkzftree"
                        | "mformat"
                        | "mkisofs-dev"
                ) =>
            {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "tLUFbcCdEgGiIJmMNoOrTsSnlpfRhD",
                        &["type", "label", "uuid", "pagesize"],
                    ),
                );
                let is_dry =
                    (matches!(name, "mke2fs") || name.starts_with("mkfs.ext")) && has(&["-n"]);
                let shows = has(&["-V", "--help", "-h"]) && options.operands.is_empty();
                if !is_dry && !shows {
                    self.on_devices(
                        "format",
                        formats,
                        args,
                        env,
                        "Makes a new file system: what was there is lost.",
                    );
                }
            }
            "wipefs" => {
                let options = Options::parse(
                    args,
                    Spec::new("otBO", &["offset", "types", "backup", "output"]),
                );
                let erases =
                    options.has("ao") || options.long("all", 1) || options.long("offset", 2);
                if erases && !(options.has("n") || options.long("no-act", 2)) {
                    self.on_devices(
                        "wipefs",
                        formats,
                        args,
                        env,
                        "Erases what marks file systems and partitions.",
                    );
                }
            }
            "sgdisk" => {
                let changes = texts.iter().any(|it| {
                    [
                        "-Z",
                        "-z",
                        "-o",
                        "-d",
                        "-n",
                        "-g",
                        "-G",
                        "-t",
                        "-l",
                        "--zap",
                        "--clear",
                        "--delete",
                        "--new",
                        "--mbrtogpt",
                        "--load",
                        "--typecode",
                        "--randomize",
                        "-c",
                        "--change",
                        "-R",
                        "--replicate",
                        "-e",
                        "-m",
                    ]
                    .iter()
                    .any(|verb| it.starts_with(verb))
                });
                let looks = has(&["-l"]);
                if changes && !looks && !has(&["-P", "--pretend"]) {
                    self.on_devices(
                        "partition_table",
                        formats,
                        args,
                        env,
                        "Changes the table of partitions.",
                    );
                }
            }
            "sfdisk" | "fdisk" | "cfdisk" | "gdisk" | "cgdisk" => {
                let looks = has(&[
                    "-l",
                    "--list",
                    "-d",
                    "--dump",
                    "-J",
                    "--json",
                    "-s",
                    "-V",
                    "--verify",
                    "-F",
                    "-x",
                    "--list-details",
                    "-g",
                    "-T",
                    "-v",
                    "--show-size",
                    "-n",
                    "--no-act",
                    "--list-free",
                ]);
                if !looks && !texts.is_empty() && !has(&["-h"]) {
                    self.on_devices(
                        "partition_table",
                        formats,
                        args,
                        env,
                        "Changes the table of partitions.",
                    );
                }
            }
            "parted" | "partprobe" => {
                let verbs = [
                    "mklabel",
                    "mktable",
                    "mkpart",
                    "rm",
                    "resizepart",
                    "set",
                    "rescue",
                    "name",
                    "disk_set",
                    "type",
                    "toggle",
                    "move",
                    "resize",
                    "mkpartfs",
                    "mkfs",
                    "cp",
                ];
                if name == "parted" && has(&verbs) {
                    self.on_devices(
                        "partition_table",
                        formats,
                        args,
                        env,
                        "Changes the table of partitions.",
                    );
                }
            }
            "cryptsetup" => {
                if has(&[
                    "luksFormat",
                    "erase",
                    "luksErase",
                    "luksKillSlot",
                    "reencrypt",
                    "luksRemoveKey",
                    "format",
                ]) {
                    self.on_devices(
                        "cryptsetup",
                        formats,
                        args,
                        env,
                        "Makes an encrypted volume anew or destroys its keys.",
                    );
                }
            }
            "pvcreate" | "pvremove" | "vgremove" | "lvremove" | "vgcreate" | "vgreduce"
            | "lvreduce" | "vgcfgrestore" | "lvconvert" => {
                if !has(&["-t", "--test"]) {
                    self.on_devices(
                        "volume",
                        formats,
                        args,
                        env,
                        "Changes volumes, whose contents may be lost.",
                    );
                }
            }
            "lvm" => {
                if let Some((verb, rest)) = args.split_first() {
                    return self.disks(&verb.marked.clone(), rest, env);
                }
            }
            "zpool" | "zfs" | "btrfs" | "bcachefs" => {
                let verbs: &[&str] = match name {
                    "zpool" => &["destroy", "create", "labelclear", "add", "replace"],
                    "zfs" => &["destroy", "rollback"],
                    "bcachefs" => &["format"],
                    _ => &[],
                };
                let is_dry = has(&["-n"]);
                let subvolume =
                    name == "btrfs" && has(&["delete"]) && has(&["subvolume", "sub", "su"]);
                if (texts.first().is_some_and(|it| verbs.contains(it)) || subvolume) && !is_dry {
                    self.on_devices(
                        "pool",
                        formats,
                        args,
                        env,
                        "Destroys a pool or a file system in it, or takes disks for one.",
                    );
                }
            }
            "mdadm" => {
                if has(&["--create", "-C", "--zero-superblock", "--stop", "-S", "--remove"]) {
                    self.on_devices("raid", formats, args, env, "Changes an array of disks.");
                }
            }
            "diskutil" => {
                let verb = texts.first().map(|it| it.to_ascii_lowercase()).unwrap_or_default();
                let apfs = verb == "apfs"
                    && texts.get(1).is_some_and(|it| it.to_ascii_lowercase().starts_with("delete"));
                if apfs
                    || [
                        "erase",
                        "zerodisk",
                        "randomdisk",
                        "secureerase",
                        "partitiondisk",
                        "reformat",
                    ]
                    .iter()
                    .any(|it| verb.starts_with(it))
                {
                    // Its operands are disks even without `/dev`.
                    self.find("format", formats, true, "Erases a disk.");
                }
            }
            "format" | "format.com" => {
                if texts.iter().any(|it| {
                    it.len() >= 2
                        && it.as_bytes().get(1) == Some(&b':')
                        && it.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
                }) {
                    self.find("format", formats, true, "Formats a drive.");
                }
            }
            "diskpart" => {
                self.find(
                    "partition_table",
                    formats,
                    false,
                    "Changes the partitions of a machine.",
                );
            }
            "tune2fs" | "resize2fs" | "xfs_repair" | "e2fsck" | "fsck" => {}
            "blkdiscard" => self.on_devices(
                "discard",
                Category::DiskWrite,
                args,
                env,
                "Discards every block of a device.",
            ),
            "badblocks" => {
                let options = Options::parse(args, Spec::new("bcdeipot", &[]));
                if options.has("wn") {
                    let is_safe = options.has("n") && !options.has("w");
                    if !is_safe {
                        self.on_devices(
                            "device_write",
                            Category::DiskWrite,
                            args,
                            env,
                            "Overwrites every block of a device.",
                        );
                    }
                }
            }
            "hdparm" => {
                if texts.iter().any(|it| {
                    it.starts_with("--security-erase")
                        || it.starts_with("--trim-sector")
                        || it.starts_with("--write-sector")
                        || *it == "--make-bad-sector"
                        || *it == "--security-set-pass"
                }) {
                    self.on_devices(
                        "device_write",
                        Category::DiskWrite,
                        args,
                        env,
                        "Erases a device by its own command.",
                    );
                }
            }
            "nvme" => {
                if texts.first().is_some_and(|it| {
                    matches!(
                        *it,
                        "format"
                            | "sanitize"
                            | "write-zeroes"
                            | "delete-ns"
                            | "write"
                            | "dsm"
                            | "write-uncor"
                    )
                }) {
                    self.on_devices(
                        "device_write",
                        Category::DiskWrite,
                        args,
                        env,
                        "Erases or overwrites a device by its own command.",
                    );
                }
            }
            "sg_format" | "sg_sanitize" | "sg_unmap" | "sg_write_same" | "sg_dd" | "nwipe"
            | "dban" | "flashrom" | "flash_erase" | "nandwrite" | "mtd" | "ubiformat" => {
                self.on_devices(
                    "device_write",
                    Category::DiskWrite,
                    args,
                    env,
                    "Erases or overwrites a device.",
                );
            }
            "debugfs" if has(&["-w"]) => {
                self.on_devices(
                    "device_write",
                    Category::DiskWrite,
                    args,
                    env,
                    "Changes a file system from the outside.",
                );
            }
            "pv" | "cat" | "zcat" | "head" => return false,
            _ => return false,
        }
        true
    }

    /// A change of the devices among the arguments; hard only for real ones.
    fn on_devices(
        &mut self,
        rule: &'static str,
        category: Category,
        args: &[Arg],
        env: &Env,
        why: &str,
    ) {
        let devices = args.iter().filter_map(|it| {
            let text = it.marked.rsplit_once('=').map_or(it.marked.as_str(), |(_, value)| value);
            crate::path::resolve_text(text, env)
                .device()
                .filter(|_| text.contains("/dev") || !it.is_option())
        });
        let has_disk = devices.into_iter().any(|it| it == Device::Disk);
        self.find(rule, category, has_disk, why);
    }
}
