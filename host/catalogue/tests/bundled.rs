//! The bundled components are small and whole. `tests/catalogue.rs` builds them again from the sources in `hooks/`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{fs, path::Path};

use hookbox_catalogue::ALL;

#[test]
fn schemas_are_json_and_authorities_too() {
    for bundled in ALL {
        let schema: serde_json::Value = serde_json::from_str(bundled.schema).unwrap();
        assert_eq!(schema["additionalProperties"], serde_json::json!(false), "{}", bundled.name);
        serde_json::from_str::<serde_json::Value>(bundled.authority).unwrap();
    }
}

#[test]
fn components_are_small() {
    for bundled in ALL {
        let bytes = bundled.component();
        assert!(bytes.starts_with(b"\0asm"), "{}", bundled.name);
        assert!(bytes.len() < 256 * 1024, "{}: {} bytes", bundled.name, bytes.len());
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("hooks/{}.wasm.deflated", bundled.name));
        assert!(fs::metadata(file).unwrap().len() < 128 * 1024, "{}", bundled.name);
    }
}
