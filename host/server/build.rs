//! Compresses the files of the console, which `just console` builds.

use std::{env, error::Error, fs, path::Path};

/// The best compression. It takes time only once per build.
const LEVEL: u8 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("console/dist");
    let to = Path::new(&env::var("OUT_DIR")?).join("console");
    fs::create_dir_all(&to)?;
    println!("cargo::rerun-if-changed={}", folder.display());
    for name in ["index.html", "app.js", "app.css", "icon.svg"] {
        let bytes = fs::read(folder.join(name))?;
        fs::write(to.join(format!("{name}.z")), miniz_oxide::deflate::compress_to_vec_zlib(&bytes, LEVEL))?;
    }
    Ok(())
}
