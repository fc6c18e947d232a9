//! Immutable copies of files in memory. Even this process cannot change them.

#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;
use std::{
    fs::File,
    io::{self, Read},
};

/// Bytes read at a time.
const PART: usize = 32 << 10;

/// Reads to the end and passes each part to `take`.
pub(crate) fn read_through(from: &mut dyn Read, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; PART];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => take(buffer.get(..read).unwrap_or_default())?,
        }
    }
}

/// Copies all content into a sealed file in memory.
#[cfg(target_os = "linux")]
pub(crate) fn copy(from: &mut dyn Read) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    let file = File::from(memfd_create("hookbox-code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    let mut length = 0;
    read_through(from, |part| {
        // Zeros are not written and so take no memory. The initial memory of a guest is mostly zeros.
        if part.first() != Some(&0) || part.get(1..) != part.get(..part.len() - 1) {
            file.write_all_at(part, length)?;
        }
        length += part.len() as u64;
        Ok(())
    })?;
    file.set_len(length)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// Unsupported on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn copy(_: &mut dyn Read) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{
        fs::{self, OpenOptions},
        os::fd::AsRawFd,
    };

    use super::*;

    /// Returns the copied file and a path to it.
    fn copied(content: &[u8]) -> (File, String) {
        let file = copy(&mut &*content).unwrap();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        (file, path)
    }

    #[test]
    fn it_equals_the_original() {
        let zeros = vec![0; 2 * PART + 1];
        for content in
            [&b""[..], b"\0", b"code", &zeros, &[&b"code"[..], &zeros].concat(), &[&zeros, &b"code"[..]].concat()]
        {
            let (_file, path) = copied(content);
            assert!(fs::read(path).unwrap() == content, "{} bytes", content.len());
        }
    }

    #[test]
    fn it_is_immutable() {
        let (_file, path) = copied(b"code");
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        assert!(file.write_at(b"evil", 0).is_err() && file.set_len(0).is_err() && file.set_len(9).is_err());
        assert_eq!(fs::read(path).unwrap(), b"code");
    }
}
