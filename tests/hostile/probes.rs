//! Guests that probe for resources beyond their grants: the environment, files, the network, the host itself.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use hookbox::{Cause, Failure, Limits, LoadError, Permissions};
use rustix::fs::{CWD, Mode, mkfifoat};

use hookbox_testing::guest::{self, DIRECTORY, FILES};

use crate::stage::{Guest, component, host_is_intact, importing};

/// A guest that traps unless this list is empty.
fn sees_nothing(interface: &str, function: &str) -> Guest {
    let import = format!(r#"(import "{interface}" "{function}" (func $list (param i32)))"#);
    let body = "(call $list (i32.const 8192)) (if (i32.load (i32.const 8196)) (then (unreachable)))";
    importing(body, &import, &format!("import {interface};"), FILES)
}

const FILE_IMPORTS: &str = "import wasi:filesystem/preopens@0.2.3; import wasi:filesystem/types@0.2.3;";

/// The start of a body: puts the granted directory into `$dir` and grows the memory for results.
const DIR: &str = "(local $dir i32) (drop (memory.grow (i32.const 2))) (call $directories (i32.const 8192))
    (local.set $dir (i32.load (i32.load (i32.const 8192))))";

/// Puts the file that was just opened into `$dir`.
const OPENED: &str = "(local.set $dir (i32.load (i32.const 8196)))";

/// Reads the whole file from its start.
const READ: &str = "(call $read (local.get $dir) (i64.const -1) (i64.const 0) (i32.const 8192))";

/// Traps unless this number of bytes was read.
fn traps_unless_read(bytes: u32) -> String {
    format!("(if (i32.ne (i32.load (i32.const 8200)) (i32.const {bytes})) (then (unreachable)))")
}

/// A folder with `data/inside`, `data/out` → `..`, `data/etc` → `/etc/passwd`, and `secret` beside `data`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("inside"), "inside").unwrap();
    fs::write(folder.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("..", data.join("out")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", data.join("etc")).unwrap();
    folder
}

fn reads(name: &str) -> Permissions {
    Permissions { read: BTreeMap::from([("/data".into(), name.into())]), ..Permissions::default() }
}

fn writes(name: &str) -> Permissions {
    Permissions { write: BTreeMap::from([("/data".into(), name.into())]), ..Permissions::default() }
}

/// Returns true if this call on the granted directory succeeds. The path is at 4096, the result at 8192.
async fn succeeds(call: &str, path: &str, permissions: Permissions, folder: &Path) -> bool {
    ended(call, path, permissions, folder).await.is_ok()
}

/// Returns the failure of a call on the granted directory.
async fn fails(call: &str, path: &str, permissions: Permissions, folder: &Path) -> Failure {
    ended(call, path, permissions, folder).await.unwrap_err()
}

async fn ended(call: &str, path: &str, permissions: Permissions, folder: &Path) -> Result<(), Failure> {
    let body = format!("{DIR} {call} (if (i32.load8_u (i32.const 8192)) (then (unreachable)))");
    let (times, packages) = if call.contains("$times") { (TIMES, more_files()) } else { ("", FILES.to_owned()) };
    let items = format!(r#"{DIRECTORY} {times} (data (i32.const 4096) "{path}")"#);
    let guest = importing(&body, &items, FILE_IMPORTS, &packages).granted(permissions, folder);
    let report = guest.run().await.unwrap();
    host_is_intact().await;
    report.result.map(drop)
}

/// Functions of [`more_files`].
const STREAM: &str = r#"
    (import "wasi:filesystem/types@0.2.3" "[method]descriptor.read-via-stream" (func $stream (param i32 i64 i32)))"#;
const TIMES: &str = r#"
    (import "wasi:filesystem/types@0.2.3" "[method]descriptor.set-times-at"
        (func $times (param i32 i32 i32 i32 i32 i64 i32 i32 i64 i32 i32)))"#;

/// [`FILES`] with streams and times.
fn more_files() -> String {
    let types = "interface types {
            use wasi:clocks/wall-clock@0.2.3.{datetime};
            use wasi:io/streams@0.2.3.{input-stream};
            variant new-timestamp { no-change, now, timestamp(datetime) }";
    let functions = "read-via-stream: func(offset: u64) -> result<input-stream, error-code>;
                set-times-at: func(path-flags: path-flags, path: string, accessed: new-timestamp,
                    modified: new-timestamp) -> result<_, error-code>;
                unlink-file-at:";
    let files = FILES.replacen("interface types {", types, 1).replacen("unlink-file-at:", functions, 1);
    format!(
        "package wasi:clocks@0.2.3 {{ interface wall-clock {{ record datetime {{ seconds: u64, nanoseconds: u32 }} }} }}
         package wasi:io@0.2.3 {{ interface streams {{ resource input-stream; }} }} {files}"
    )
}

/// Calls `set-times-at` and follows symlinks. The time of access stays, and the time of change becomes second 7.
fn times(path: &str) -> String {
    let length = path.len();
    format!(
        "(call $times (local.get $dir) (i32.const 1) (i32.const 4096) (i32.const {length}) (i32.const 0) (i64.const 0)
            (i32.const 0) (i32.const 2) (i64.const 7) (i32.const 0) (i32.const 8192))"
    )
}

/// Calls `open-at` and follows symlinks. Flags: 1 reads, 2 writes, 3 does both.
fn open(path: &str, create: bool, flags: u32) -> String {
    let (length, create) = (path.len(), u32::from(create));
    format!(
        "(call $open (local.get $dir) (i32.const 1) (i32.const 4096) (i32.const {length})
            (i32.const {create}) (i32.const {flags}) (i32.const 8192))"
    )
}

async fn opens(path: &str, permissions: Permissions, folder: &Path) -> bool {
    succeeds(&open(path, false, 1), path, permissions, folder).await
}

hostile_tests! {
    /// The control: granted files work.
    async fn a_granted_file_opens() {
        let folder = folder();
        assert!(opens("inside", reads("data"), folder.path()).await);
        assert!(succeeds(&open("new", true, 2), "new", writes("data"), folder.path()).await);
        assert!(folder.path().join("data/new").exists());
    }
    async fn a_path_out_of_the_granted_folder() {
        let folder = folder();
        for path in ["../secret", "./../secret", "inside/../../secret", "..", "a/../../secret"] {
            assert!(!opens(path, writes("data"), folder.path()).await, "{path}");
        }
    }
    async fn an_absolute_path() {
        let folder = folder();
        for path in ["/etc/passwd", "/", "//etc/passwd", "/data/../etc/passwd"] {
            assert!(!opens(path, writes("data"), folder.path()).await, "{path}");
        }
    }
    async fn a_symlink_out_of_the_granted_folder() {
        let folder = folder();
        for path in ["etc", "out/secret", "out", "out/data/inside"] {
            assert!(!opens(path, writes("data"), folder.path()).await, "{path}");
        }
    }
    async fn a_symlink_that_the_guest_made_out_of_the_granted_folder() {
        let folder = folder();
        let symlink = "(call $symlink (local.get $dir) (i32.const 4096) (i32.const 11) (i32.const 4096) (i32.const 4)
            (i32.const 8192))";
        assert!(!succeeds(symlink, "/etc/passwd", writes("data"), folder.path()).await);
    }
    async fn writing_where_reading_is_granted() {
        let folder = folder();
        assert!(!succeeds(&open("new", true, 2), "new", reads("data"), folder.path()).await);
        assert!(!succeeds(&open("inside", false, 2), "inside", reads("data"), folder.path()).await);
        let unlink = "(call $unlink (local.get $dir) (i32.const 4096) (i32.const 6) (i32.const 8192))";
        assert!(!succeeds(unlink, "inside", reads("data"), folder.path()).await);
        assert_eq!(fs::read_to_string(folder.path().join("data/inside")).unwrap(), "inside");
    }
    /// The length exceeds the file and the memory. The guest gets the bytes of the file.
    async fn reading_more_than_there_is_memory() {
        let folder = folder();
        let read = format!("{} {OPENED} {READ} {}", open("inside", false, 1), traps_unless_read(6));
        assert!(succeeds(&read, "inside", reads("data"), folder.path()).await);
    }
    /// Opening a pipe for reading waits for a writer, and opening a device may do anything.
    async fn a_pipe_a_socket_and_a_device_in_the_granted_folder() {
        let folder = folder();
        let data = folder.path().join("data");
        mkfifoat(CWD, data.join("pipe"), Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(data.join("socket")).unwrap();
        std::os::unix::fs::symlink("pipe", data.join("link")).unwrap();
        for path in ["pipe", "socket", "link", "./pipe"] {
            for call in [open(path, false, 1), open(path, false, 2), open(path, false, 3), open(path, true, 2), times(path)] {
                let failure = fails(&call, path, writes("data"), folder.path()).await;
                assert_eq!(failure.cause, Cause::Trap, "{path}: {call}: {failure}");
            }
            let failure = fails(&open(path, false, 1), path, reads("data"), folder.path()).await;
            assert_eq!(failure.cause, Cause::Trap, "{path}: {failure}");
        }
        for path in ["zero", "null", "tty", "ptmx", "urandom"] {
            let failure = fails(&open(path, false, 1), path, reads("/dev"), Path::new("/")).await;
            assert_eq!(failure.cause, Cause::Trap, "{path}: {failure}");
        }
        // The control.
        assert!(succeeds(&times("inside"), "inside", writes("data"), folder.path()).await);
        assert!(!succeeds(&times("inside"), "inside", reads("data"), folder.path()).await);
        let touched = fs::metadata(data.join("inside")).unwrap().modified().unwrap();
        assert_eq!(touched, std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(7));
    }
    /// There are more such calls than the runtime has threads for blocking work.
    async fn opening_a_pipe_leaks_no_thread() {
        let folder = folder();
        let pipe = folder.path().join("data/pipe");
        mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
        let body = format!("{DIR} {}", open("pipe", false, 1));
        let items = format!(r#"{DIRECTORY} (data (i32.const 4096) "pipe")"#);
        let guest = importing(&body, &items, FILE_IMPORTS, FILES).granted(reads("data"), folder.path());
        let component = guest.load().unwrap();
        for _ in 0..45 {
            let mut calls = tokio::task::JoinSet::new();
            for _ in 0..16 {
                let component = component.clone();
                calls.spawn(async move {
                    let context = guest::context(Limits::default(), Duration::from_millis(50));
                    component.call(&guest::event(), guest::claude(), context).await
                });
            }
            calls.join_all().await;
        }
        let work = tokio::time::timeout(Duration::from_secs(20), tokio::task::spawn_blocking(|| ())).await;
        // Calls that wait for a writer have one now.
        drop(fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap());
        assert!(work.is_ok(), "every thread waits for the pipe");
        // The calls do not count against the tenant's limit either.
        let read = format!("{} {OPENED} {READ} {}", open("inside", false, 1), traps_unless_read(6));
        assert!(succeeds(&read, "inside", reads("data"), folder.path()).await);
    }
    async fn files_without_end() {
        let folder = folder();
        let items = format!(r#"{DIRECTORY} {STREAM} (data (i32.const 4096) "inside")"#);
        let (open, stream) = (open("inside", false, 1), "(call $stream (local.get $dir) (i64.const 0) (i32.const 8192))");
        for body in [
            format!("{DIR} (loop $again {open} (br $again))"),
            format!("{DIR} {open} {OPENED} (loop $again {stream} (br $again))"),
            "(loop $again (call $directories (i32.const 8192)) (br $again))".to_owned(),
        ] {
            let guest = importing(&body, &items, FILE_IMPORTS, &more_files()).granted(reads("data"), folder.path());
            let failure = guest.run().await.unwrap().result.unwrap_err();
            assert_eq!(failure.cause, Cause::OutOfMemory, "{failure}");
            assert!(failure.message.contains("more than 64 files"), "{failure}");
        }
    }
    async fn a_name_with_a_nul() {
        let folder = folder();
        let call = "(call $open (local.get $dir) (i32.const 1) (i32.const 4096) (i32.const 10) (i32.const 0)
            (i32.const 1) (i32.const 8192))";
        assert!(!succeeds(call, r"inside\00../", reads("data"), folder.path()).await);
    }
    async fn a_granted_folder_that_is_a_file() {
        let folder = folder();
        let guest = Guest::of(guest::encode(&guest::gate("", ""), guest::GATE, ""));
        let error = guest.granted(reads("secret"), folder.path()).run().await.unwrap_err();
        assert!(matches!(error, LoadError::Directory { .. }), "{error}");
    }
    async fn the_environment() {
        let report = sees_nothing("wasi:cli/environment@0.2.3", "get-environment").run().await.unwrap();
        assert!(std::env::vars().count() > 0 && report.result.is_ok(), "{report:?}");
    }
    async fn the_command_line() {
        let report = sees_nothing("wasi:cli/environment@0.2.3", "get-arguments").run().await.unwrap();
        assert!(report.result.is_ok(), "{report:?}");
    }
    async fn ungranted_directories() {
        let report = sees_nothing("wasi:filesystem/preopens@0.2.3", "get-directories").run().await.unwrap();
        assert!(report.result.is_ok(), "{report:?}");
    }
    /// Features of WebAssembly that no hook needs are disabled, above all garbage collection, because they are attack
    /// surface.
    async fn disabled_proposals() {
        for (proposal, module) in [
            ("threads", "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))"),
            ("notifying threads", "(memory 1) (func (drop (memory.atomic.notify (i32.const 0) (i32.const 0))))"),
            ("shared memory", "(memory 1 2 shared)"),
            ("structs", "(type $s (struct (field i32))) (func (drop (struct.new $s (i32.const 1))))"),
            ("arrays", "(type $a (array (mut i8))) (func (drop (array.new_default $a (i32.const 1))))"),
            ("small integers by reference", "(func (drop (ref.i31 (i32.const 1))))"),
            ("function references", "(type $t (func)) (func $f (type $t)) (elem declare func $f)
                (func (call_ref $t (ref.func $f)))"),
            ("exceptions", "(tag $e) (func (block $h (try_table (catch_all $h) (throw $e))))"),
            ("references to exceptions", "(tag $e) (func (result exnref) (ref.null exn))"),
            ("64-bit memory", "(memory i64 1)"),
            ("pages of other sizes", "(memory 1 (pagesize 1))"),
            ("other stacks", "(type $f (func)) (type $c (cont $f)) (func (drop (cont.new $c (ref.null $f))))"),
            ("wide arithmetic", "(func (result i64 i64)
                (i64.add128 (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1)))"),
        ] {
            let guest = component(&format!("(component (core module {module}))"));
            let error = guest.load().unwrap_err();
            assert!(matches!(error, hookbox::LoadError::Invalid(_)), "{proposal}: {error}");
        }
    }
    async fn forbidden_imports() {
        for name in [
            "wasi:sockets/tcp@0.2.3",
            "wasi:sockets/ip-name-lookup@0.2.3",
            "wasi:http/outgoing-handler@0.2.3",
            "wasi:cli/environment@0.3.0",
            "wasi:cli/environment@0.20.0",
            "wasi:cli/environment",
            "wasi:keyvalue/store@0.2.0",
            "wasmtime:internal/host",
            "hookbox:host/admin@0.1.0",
            "hookbox:hooks-evil/state@0.1.0",
        ] {
            refused(&format!(r#"(component (import "{name}" (instance)))"#), "Refused", name).await;
        }
        refused(r#"(component (import "exec" (func)))"#, "Refused", "exec").await;
    }
    async fn ungranted_imports() {
        for name in ["state", "http", "llm"] {
            let text = format!(r#"(component (import "hookbox:hooks/{name}@0.2.7" (instance)))"#);
            refused(&text, "NotGranted", name).await;
        }
    }
    /// Imports with hookbox's package name that are not in the contract, or have another type there.
    async fn imports_that_are_not_in_the_contract() {
        for name in ["secrets", "types2"] {
            let text = format!(r#"(component (import "hookbox:hooks/{name}@0.2.0" (instance (export "f" (func)))))"#);
            refused(&text, "Link", name).await;
        }
        refused(
            r#"(component (import "hookbox:hooks/log@0.2.0" (instance (export "log" (func (param "x" u64))))))"#,
            "Link",
            "log",
        )
        .await;
    }
}

async fn refused(text: &str, variant: &'static str, words: &str) {
    let error = component(text).run().await.unwrap_err();
    assert!(format!("{error:?}").starts_with(variant) && error.to_string().contains(words), "{error:?}");
}
