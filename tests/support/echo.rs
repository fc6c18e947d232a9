//! `echo POINTER FILE`: prints FILE's JSON and replaces the string `"$SEEN"` with the value at POINTER in the event on
//! stdin. Vectors about chains use it to show the event that a hook got.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::io::read_to_string;

use serde_json::Value;

fn main() {
    let mut args = std::env::args().skip(1);
    let (pointer, file) = (args.next().expect("POINTER"), args.next().expect("FILE"));
    let event: Value = serde_json::from_str(&read_to_string(std::io::stdin()).expect("stdin")).expect("an event");
    let seen = event.pointer(&pointer).cloned().unwrap_or_default();
    let mut output: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("FILE")).expect("JSON");
    replace(&mut output, &seen);
    println!("{output}");
}

fn replace(value: &mut Value, seen: &Value) {
    match value {
        Value::String(text) if text == "$SEEN" => value.clone_from(seen),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, seen)),
        Value::Object(object) => object.values_mut().for_each(|item| replace(item, seen)),
        _ => {}
    }
}
