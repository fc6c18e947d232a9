//! Prepares the embedded data of the binary: the SDKs, which `hookbox new` copies into projects until they are
//! published, and the assembled WASI adapter for Go. Also sets the linker options.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// Files and folders that compilers and package managers create in an SDK's folder.
const NOT_SOURCES: &[&str] =
    &["node_modules", "target", "dist", "build", "__pycache__", ".hookbox", ".pytest_cache", ".venv", "tests", "test"];

fn main() -> io::Result<()> {
    link_small();
    let variable = |name| PathBuf::from(env::var_os(name).unwrap_or_default());
    let (folder, out) = (variable("CARGO_MANIFEST_DIR"), variable("OUT_DIR"));
    fs::write(out.join("sdks"), miniz_oxide::deflate::compress_to_vec(sdks(&folder)?.as_bytes(), 10))?;
    let adapter = folder.join("src/commands/build/go/adapter.wat");
    println!("cargo::rerun-if-changed={}", adapter.display());
    fs::write(out.join("go-adapter.wasm"), wat::parse_file(adapter).map_err(io::Error::other)?)
}

/// Makes release builds smaller: merges identical functions and strings, and uses the compact relocations that glibc
/// reads since 2.36. Only for Rust's default linker, which supports both; a configured linker is not changed.
fn link_small() {
    let variable = |name| env::var(name).unwrap_or_default();
    let chosen = env::var_os("RUSTC_LINKER").is_some() || variable("CARGO_ENCODED_RUSTFLAGS").contains("link");
    let ours = [variable("TARGET"), variable("HOST")] == ["x86_64-unknown-linux-gnu"; 2];
    if variable("OPT_LEVEL") != "z" || !ours || chosen {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Wl,-O2,--icf=all");
    let glibc = Command::new("getconf").arg("GNU_LIBC_VERSION").output().map(|said| said.stdout).unwrap_or_default();
    let minor = String::from_utf8_lossy(&glibc).trim().strip_prefix("glibc 2.").and_then(|minor| minor.parse().ok());
    if minor.is_some_and(|minor: u32| minor >= 36) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The language, path and text of every source file, each followed by a NUL, which no source contains.
fn sdks(folder: &Path) -> io::Result<String> {
    let mut sdks = String::new();
    for language in ["rust", "go", "js", "python"] {
        let sdk = folder.join("sdk").join(language);
        println!("cargo::rerun-if-changed={}", sdk.display());
        let mut files = Vec::new();
        if sdk.is_dir() {
            collect(&sdk, &mut files)?;
        }
        files.sort();
        for file in files {
            let path = file.strip_prefix(&sdk).map_err(io::Error::other)?.display().to_string();
            for part in [language, &path, &fs::read_to_string(&file)?] {
                assert!(!part.contains('\0'), "{} has a NUL", file.display());
                sdks.push_str(part);
                sdks.push('\0');
            }
        }
    }
    Ok(sdks)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let made = path.extension().is_some_and(|end| end == "egg-info" || end == "tgz");
        if made || NOT_SOURCES.contains(&name.as_str()) {
            continue;
        }
        // Follows the symlink to the contract.
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
