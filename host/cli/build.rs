//! What the binary has inside: the SDKs as text, for `hookbox new` (until they are published, they are laid into the
//! project), and our adapter for Go, assembled here so that the binary needs no assembler.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

/// What compilers and package clients leave in an SDK's folder.
const NOT_SOURCES: &[&str] =
    &["node_modules", "target", "dist", "build", "__pycache__", ".hookbox", ".pytest_cache", ".venv", "tests", "test"];

fn main() -> io::Result<()> {
    let variable = |name| PathBuf::from(env::var_os(name).unwrap_or_default());
    let (folder, out) = (variable("CARGO_MANIFEST_DIR"), variable("OUT_DIR"));
    fs::write(out.join("sdk.rs"), sdks(&folder)?)?;
    let adapter = folder.join("src/commands/build/go/adapter.wat");
    println!("cargo::rerun-if-changed={}", adapter.display());
    fs::write(out.join("go-adapter.wasm"), wat::parse_file(adapter).map_err(io::Error::other)?)
}

fn sdks(folder: &Path) -> io::Result<String> {
    let mut list = String::from("&[\n");
    for language in ["rust", "go", "js", "python"] {
        let sdk = folder.join("sdk").join(language);
        println!("cargo::rerun-if-changed={}", sdk.display());
        let mut files = Vec::new();
        if sdk.is_dir() {
            collect(&sdk, &mut files)?;
        }
        files.sort();
        for file in files {
            let name = file.strip_prefix(&sdk).map_err(io::Error::other)?.display().to_string();
            let _ = writeln!(list, "({language:?}, {name:?}, include_str!({:?})),", file.display().to_string());
        }
    }
    list.push(']');
    Ok(list)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let made = path.extension().is_some_and(|end| end == "egg-info" || end == "tgz");
        if made || NOT_SOURCES.contains(&name.as_str()) {
            continue;
        }
        // The link to the contract is followed.
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
