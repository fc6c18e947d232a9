//! `lay-out-vectors FOLDER`: writes every vector with its configuration and commands into a folder of its own, and
//! `vectors.json` with all there is to check, for front ends in other languages. `endless.wasm` is a component that never
//! answers.
#![allow(clippy::expect_used, clippy::indexing_slicing)]

use std::{fs, path::Path};

use hookbox_testing::{guest, vectors};
use serde_json::json;

fn main() {
    let folder = std::env::args().nth(1).expect("FOLDER");
    let folder = Path::new(&folder);
    let mut list = Vec::new();
    for file in vectors::all() {
        for vector in &file.vectors {
            let dir = folder.join(list.len().to_string());
            fs::create_dir_all(&dir).expect("a new folder");
            list.push(json!({
                "place": format!("{} «{}»", file.path.file_name().expect("a file").to_string_lossy(), vector.name),
                "dir": dir,
                "config": vector.lay_out(&file.dialect, &dir),
                // As text, so that no digit is lost on the way.
                "event": vector.event.to_string(),
                "as": vector.named,
                "expect": vector.expect,
                "feedback": vector.feedback,
                "notes": vector.notes,
                "ran": vector.should_run(),
                "hooks": vector.hooks.len(),
            }));
        }
    }
    let endless = guest::encode(&guest::gate("(loop $again (br $again))", ""), guest::GATE, "");
    fs::write(folder.join("endless.wasm"), endless).expect("writable");
    fs::write(folder.join("vectors.json"), json!(list).to_string()).expect("writable");
}
