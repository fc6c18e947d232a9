//! Writing to disks, making file systems, changing partitions.

use hookbox_shell::{Call, Word};

use super::files::plain;
use super::{Finding, Kind, finding, has, has_long, has_short, operands};

/// Devices that swallow, show or hold nothing of value.
const HARMLESS: [&str; 8] =
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random"];
/// Folders in which are no disks.
const NO_DISKS: [&str; 5] = ["/dev/fd/", "/dev/shm/", "/dev/pts/", "/dev/tcp/", "/dev/udp/"];

pub(super) fn check(call: &Call) -> Vec<Finding> {
    let grave = |what: &str| Some(finding(Kind::Devices, true, call, what));
    let reads_only = has(call, &["-l", "--list", "-p", "print", "--print", "--version", "--help", "-h", "-V"]);
    let program = call.program.as_str();
    let found = match program {
        _ if has(call, &["--help", "--version"]) || matches!(call.args.as_slice(), [only] if only.text == "-h") => None,
        _ if program == "mkfs" || program.starts_with("mkfs.") => grave("destroys what is on a device"),
        "mke2fs" | "mkswap" | "newfs" | "mkntfs" | "mkdosfs" | "blkdiscard" => grave("destroys what is on a device"),
        "wipefs" if has_short(call, 'a') || has_short(call, 'o') || has_long(call, "all", 2) => {
            grave("destroys what is on a device")
        }
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "diskpart" if !reads_only => {
            grave("changes partitions")
        }
        "cryptsetup" if has(call, &["luksFormat", "erase", "luksErase", "luksKillSlot", "reencrypt"]) => {
            grave("makes a disk unreadable")
        }
        "hdparm" if call.args.iter().any(|arg| arg.text.contains("security-erase")) => grave("erases a disk"),
        "nvme" if has(call, &["format", "sanitize"]) => grave("erases a disk"),
        "badblocks" if has_short(call, 'w') => grave("writes over a disk"),
        "lvremove" | "vgremove" | "pvremove" => grave("removes volumes"),
        "zpool" | "zfs" if has(call, &["destroy", "labelclear"]) => grave("removes volumes"),
        "btrfs" if has(call, &["delete"]) => grave("removes volumes"),
        "mdadm" if has(call, &["--zero-superblock", "--remove", "--fail"]) => grave("takes a disk out of its array"),
        "diskutil" if call.args.iter().any(|arg| is_erasure(&arg.text)) => grave("erases a disk"),
        "format" | "format.com" if call.args.iter().any(|arg| is_drive(&arg.text)) => grave("erases a disk"),
        "clear-disk" | "format-volume" | "initialize-disk" | "remove-partition" => grave("erases a disk"),
        _ => None,
    };
    found.into_iter().chain(overwritten(call)).collect()
}

/// Disks that are written over, by whatever writes.
fn overwritten(call: &Call) -> Option<Finding> {
    let dd = call
        .args
        .iter()
        .filter(|_| matches!(call.program.as_str(), "dd" | "dcfldd"))
        .filter_map(|arg| arg.text.strip_prefix("of="));
    let dd: Vec<Word> = dd.map(Word::new).collect();
    let last = matches!(call.program.as_str(), "cp" | "mv" | "install").then(|| operands(call).last()).flatten();
    let all = matches!(call.program.as_str(), "tee" | "shred" | "truncate" | "wipe" | "rm" | "sponge");
    let all = all.then(|| operands(call)).into_iter().flatten();
    let written = call.writes.iter().chain(last).chain(all).chain(&dd);
    let device = written.map(|word| plain(&word.text.replace('\\', "/"))).find(|path| is_disk(path))?;
    Some(finding(Kind::Devices, true, call, &format!("writes over {device}")))
}

fn is_disk(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains("physicaldrive")
        || path.starts_with("/dev/")
            && !HARMLESS.contains(&path.as_str())
            && path != "/dev/urandom"
            && !NO_DISKS.iter().any(|folder| path.starts_with(folder))
}

fn is_erasure(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.starts_with("erase")
        || text.starts_with("partition")
        || matches!(text.as_str(), "zerodisk" | "randomdisk" | "secureerase")
}

/// `C:`
fn is_drive(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':')
}
