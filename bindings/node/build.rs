//! Leaves the symbols of Node for the loader to find, and tells the macros where to write the types of the addon.

use std::{env, fs, path::Path};

/// The folder of the types beside the libraries of the profile; `types.mjs` reads it.
const TYPES: &str = "node-types";

fn main() {
    napi_build::setup();
    // OUT_DIR is <profile>/build/<crate>/out.
    let out = env::var_os("OUT_DIR");
    let Some(profile) = out.as_ref().and_then(|out| Path::new(out).ancestors().nth(3)) else { return };
    let folder = profile.join(TYPES);
    if fs::create_dir_all(&folder).is_ok() {
        println!("cargo:rustc-env=NAPI_TYPE_DEF_TMP_FOLDER={}", folder.display());
    }
}
