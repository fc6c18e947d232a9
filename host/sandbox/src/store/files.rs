//! Functions of `wasi:filesystem` that this host implements itself, in place of wasmtime-wasi's.
//!
//! wasmtime-wasi opens directories by path at each call, and its `open` waits for the other end of a pipe. These
//! functions use the directories opened at load time, never wait in `open`, and open regular files and directories
//! only. See `docs/spec/decisions.md`, Granted directories.

use std::{fs::File, io, path::Path, sync::Arc};

use cap_primitives::fs::{FollowSymlinks, OpenOptions, OpenOptionsExt, open, stat};
use rustix::{fs::OFlags, io::Errno};
use wasmtime::{
    Result, StoreContextMut,
    component::{Linker, Resource},
};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, Dir, File as OpenFile, WasiFilesystemView},
    p2::{
        DynInputStream, DynOutputStream, FsResult,
        bindings::filesystem::types::{DescriptorFlags, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags},
    },
    runtime::spawn_blocking,
};

use super::Sandbox;

pub(crate) use super::open_files::OpenFiles;

/// The interface versions that wasmtime-wasi links. With another version these functions would replace nothing.
const TYPES: &str = "wasi:filesystem/types@0.2.12";
const PREOPENS: &str = "wasi:filesystem/preopens@0.2.12";

type Answer<T> = Result<(Result<T, ErrorCode>,)>;
type OpenAt = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);
type SetTimesAt = (Resource<Descriptor>, PathFlags, String, NewTimestamp, NewTimestamp);

/// Replaces these functions in a linker that already has wasmtime-wasi's.
pub(crate) fn replace(linker: &mut Linker<Sandbox>) -> Result<()> {
    linker.allow_shadowing(true);
    linker.instance(PREOPENS)?.func_wrap("get-directories", |mut store: StoreContextMut<'_, Sandbox>, (): ()| {
        Ok((store.data_mut().directories()?,))
    })?;
    let mut types = linker.instance(TYPES)?;
    types.func_wrap_async(
        "[method]descriptor.open-at",
        |mut store: StoreContextMut<'_, Sandbox>, request: OpenAt| {
            Box::new(async move { store.data_mut().open_at(request).await })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.set-times-at",
        |mut store: StoreContextMut<'_, Sandbox>, request: SetTimesAt| {
            Box::new(async move { store.data_mut().set_times_at(request).await })
        },
    )?;
    types.func_wrap(
        "[method]descriptor.read-via-stream",
        |mut store: StoreContextMut<'_, Sandbox>, (file, at): (Resource<Descriptor>, u64)| -> Answer<_> {
            let stream: FsResult<Resource<DynInputStream>> = store.data_mut().view()?.read_via_stream(file, at);
            answer(stream)
        },
    )?;
    types.func_wrap(
        "[method]descriptor.write-via-stream",
        |mut store: StoreContextMut<'_, Sandbox>, (file, at): (Resource<Descriptor>, u64)| -> Answer<_> {
            let stream: FsResult<Resource<DynOutputStream>> = store.data_mut().view()?.write_via_stream(file, at);
            answer(stream)
        },
    )?;
    types.func_wrap(
        "[method]descriptor.append-via-stream",
        |mut store: StoreContextMut<'_, Sandbox>, (file,): (Resource<Descriptor>,)| -> Answer<_> {
            let stream: FsResult<Resource<DynOutputStream>> = store.data_mut().view()?.append_via_stream(file);
            answer(stream)
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

fn answer<T>(result: FsResult<T>) -> Answer<T> {
    Ok((match result {
        Ok(value) => Ok(value),
        Err(error) => Err(error.downcast()?),
    },))
}

impl Sandbox {
    /// Returns wasmtime-wasi's own functions after a check that there is room for another stream.
    fn view(&mut self) -> Result<impl HostDescriptor> {
        self.files.check()?;
        Ok(self.filesystem())
    }

    fn directories(&mut self) -> Result<Vec<(Resource<Descriptor>, String)>> {
        let grants = Arc::clone(&self.grants);
        let directories = grants.directories.iter().map(|granted| {
            let mode = match granted.perms {
                FsPerms::ReadOnly => OpenMode::READ,
                FsPerms::ReadWrite => OpenMode::READ | OpenMode::WRITE,
            };
            let opened = self.hand_out(granted.folder.try_clone()?, granted.perms, mode, true)?;
            Ok((opened, granted.guest.clone()))
        });
        directories.collect()
    }

    /// Gives a file or directory to the component and counts it for the tenant.
    fn hand_out(&mut self, file: File, perms: FsPerms, mode: OpenMode, is_dir: bool) -> Result<Resource<Descriptor>> {
        let (descriptor, file) = if is_dir {
            let dir = Dir::new(file, perms, mode, false);
            let file = Arc::clone(&dir.dir);
            (Descriptor::Dir(dir), file)
        } else {
            let opened = OpenFile::new(file, perms, mode, false);
            let file = Arc::clone(&opened.file);
            (Descriptor::File(opened), file)
        };
        self.files.add(&file)?;
        Ok(self.handles.push(descriptor)?)
    }

    async fn open_at(&mut self, (at, follow, path, how, flags): OpenAt) -> Answer<Resource<Descriptor>> {
        let Descriptor::Dir(dir) = self.handles.get(&at)? else { return Ok((Err(ErrorCode::NotDirectory),)) };
        let (perms, dir) = (dir.perms, Arc::clone(&dir.dir));
        let (options, mode) = match options(perms, follow, how, flags) {
            Ok(options) => options,
            Err(code) => return Ok((Err(code),)),
        };
        let only_directories = how.contains(OpenFlags::DIRECTORY);
        let follow = follow_links(follow);
        match spawn_blocking(move || open_plain(&dir, Path::new(&path), follow, &options)).await {
            Ok(Opened { is_dir: false, .. }) if only_directories => Ok((Err(ErrorCode::NotDirectory),)),
            Ok(Opened { file, is_dir }) => Ok((Ok(self.hand_out(file, perms, mode, is_dir)?),)),
            Err(error) => Ok((Err(refusal(&error)),)),
        }
    }

    /// Sets times. wasmtime-wasi opens anything behind a link, so this function opens the file itself.
    async fn set_times_at(&mut self, (at, follow, path, accessed, modified): SetTimesAt) -> Answer<()> {
        if !follow.contains(PathFlags::SYMLINK_FOLLOW) {
            return answer(self.filesystem().set_times_at(at, follow, path, accessed, modified).await);
        }
        let Descriptor::Dir(dir) = self.handles.get(&at)? else { return Ok((Err(ErrorCode::NotDirectory),)) };
        if dir.perms.write_not_permitted() {
            return Ok((Err(ErrorCode::NotPermitted),));
        }
        let (perms, dir) = (dir.perms, Arc::clone(&dir.dir));
        let opened = spawn_blocking(move || {
            let opened = |options: &OpenOptions| open_plain(&dir, Path::new(&path), FollowSymlinks::Yes, options);
            match opened(OpenOptions::new().read(true)) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::ACCESS) => {
                    opened(OpenOptions::new().write(true))
                }
                result => result,
            }
        });
        let Opened { file, is_dir } = match opened.await {
            Ok(opened) => opened,
            Err(error) => return Ok((Err(refusal(&error)),)),
        };
        let file = self.hand_out(file, perms, OpenMode::READ, is_dir)?;
        let set = self.filesystem().set_times(Resource::new_borrow(file.rep()), accessed, modified).await;
        self.handles.delete(file)?;
        answer(set)
    }
}

fn follow_links(flags: PathFlags) -> FollowSymlinks {
    if flags.contains(PathFlags::SYMLINK_FOLLOW) { FollowSymlinks::Yes } else { FollowSymlinks::No }
}

/// Reads the flags of `open-at` as wasmtime-wasi does.
fn options(
    perms: FsPerms,
    follow: PathFlags,
    how: OpenFlags,
    flags: DescriptorFlags,
) -> Result<(OpenOptions, OpenMode), ErrorCode> {
    let (create, truncate) = (how.contains(OpenFlags::CREATE), how.contains(OpenFlags::TRUNCATE));
    let write = flags.contains(DescriptorFlags::WRITE);
    let read = flags.contains(DescriptorFlags::READ) || !write;
    let synced = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(synced) {
        return Err(ErrorCode::Unsupported);
    }
    if how.contains(OpenFlags::DIRECTORY) && how != OpenFlags::DIRECTORY {
        return Err(ErrorCode::Invalid);
    }
    let changes = create || truncate || write;
    if perms.write_not_permitted() && changes {
        return Err(ErrorCode::NotPermitted);
    }
    let mut options = OpenOptions::new();
    // cap-fs-ext calls this method; it has no public name.
    options.read(read).write(changes).truncate(truncate)._cap_fs_ext_follow(follow_links(follow));
    if create && how.contains(OpenFlags::EXCLUSIVE) {
        options.create_new(true);
    } else {
        options.create(create);
    }
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, read);
    mode.set(OpenMode::WRITE, changes);
    Ok((options, mode))
}

struct Opened {
    file: File,
    is_dir: bool,
}

/// Opens a regular file or a directory without blocking. Other kinds are refused before they are opened, because
/// opening a device can have effects. A second check afterwards detects a device that replaced the file in between.
fn open_plain(dir: &File, path: &Path, follow: FollowSymlinks, options: &OpenOptions) -> io::Result<Opened> {
    if let Ok(meta) = stat(dir, path, follow) {
        let kind = meta.file_type();
        if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
            return Err(Errno::PERM.into());
        }
    }
    let mut options = options.clone();
    options.custom_flags(i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default());
    let file = open(dir, path, &options)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() { Ok(Opened { file, is_dir: kind.is_dir() }) } else { Err(Errno::PERM.into()) }
}

/// Converts an error. A pipe without a reader gives `ENXIO` to a writer that does not block.
fn refusal(error: &io::Error) -> ErrorCode {
    if Errno::from_io_error(error) == Some(Errno::NXIO) { ErrorCode::NotPermitted } else { error.into() }
}
