//! Code in a file that nobody can change, this process included.

use std::{
    io::{self, Read},
    path::PathBuf,
};

#[cfg(target_os = "linux")]
use std::{
    fs::File,
    os::{fd::AsRawFd, unix::fs::FileExt},
};

/// A file in memory whose content stays as it is.
#[cfg(target_os = "linux")]
pub(crate) struct Sealed(File);

#[cfg(target_os = "linux")]
impl Sealed {
    /// Of all that is read.
    pub(crate) fn copy(from: &mut impl Read) -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

        let file = File::from(memfd_create("hookbox-code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        let (mut buffer, mut length) = ([0; 8 << 10], 0);
        loop {
            let part = match from.read(&mut buffer)? {
                0 => break,
                read => buffer.get(..read).unwrap_or_default(),
            };
            // What is not written is zero, and takes no memory: a guest's memory begins with much of that.
            if part.first() != Some(&0) || part.get(1..) != part.get(..part.len() - 1) {
                file.write_all_at(part, length)?;
            }
            length += part.len() as u64;
        }
        file.set_len(length)?;
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self(file))
    }

    /// By which this process opens it while this lives.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}

/// Other systems have none.
#[cfg(not(target_os = "linux"))]
pub(crate) enum Sealed {}

#[cfg(not(target_os = "linux"))]
impl Sealed {
    pub(crate) fn copy(_: &mut impl Read) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn path(&self) -> PathBuf {
        match *self {}
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{self, OpenOptions};

    use super::*;

    fn sealed(content: &[u8]) -> Sealed {
        Sealed::copy(&mut &*content).unwrap()
    }

    #[test]
    fn it_is_what_was_read() {
        let zeros = vec![0; 20_000];
        for content in
            [&b""[..], b"\0", b"code", &zeros, &[&b"code"[..], &zeros].concat(), &[&zeros, &b"code"[..]].concat()]
        {
            assert!(fs::read(sealed(content).path()).unwrap() == content, "{} bytes", content.len());
        }
    }

    #[test]
    fn nobody_can_change_it() {
        let sealed = sealed(b"code");
        let file = OpenOptions::new().write(true).open(sealed.path()).unwrap();
        assert!(file.write_at(b"evil", 0).is_err() && file.set_len(0).is_err() && file.set_len(9).is_err());
        assert_eq!(fs::read(sealed.path()).unwrap(), b"code");
    }
}
