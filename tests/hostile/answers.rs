//! Guests with invalid outputs: invalid JSON, and endless texts.

use std::fmt::Write;

use hookbox::{Cause::*, EventKind::*};

use crate::stage::{End::*, Guest, handling, hex};

/// An output with this text in the optional field at this address.
pub fn text(kind: hookbox::EventKind, at: u32, text: &str) -> Guest {
    let (body, data) = field(at, text);
    handling(kind, &body, &data)
}

/// The body and the items of [`text`].
pub fn field(at: u32, text: &str) -> (String, String) {
    let body = format!(
        "(i32.store8 (i32.const {at}) (i32.const 1))
         (i32.store offset=4 (i32.const {at}) (i32.const 32768))
         (i32.store offset=8 (i32.const {at}) (i32.const {}))",
        text.len()
    );
    (body, format!(r#"(data (i32.const 32768) "{}")"#, hex(text.as_bytes())))
}

/// Offsets of optional texts in the result, by the canonical ABI.
pub mod at {
    pub mod pre_tool_use {
        pub const UPDATED_INPUT: u32 = 44;
        pub const UPDATED_TOOL: u32 = 56;
        pub const EXTRA: u32 = 116;
    }
    pub mod permission {
        pub const UPDATED_INPUT: u32 = 24;
        pub const UPDATED_PERMISSIONS: u32 = 36;
    }
    pub const UPDATED_OUTPUT: u32 = 20;
    pub const UPDATED_MESSAGE: u32 = 4;
    pub const STOP_EXTRA: u32 = 68;
}

/// `{"a":[[[…]]]}` with this depth.
fn deep(levels: usize) -> String {
    format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels))
}

/// An error that the hook reports, with a message of this many bytes.
fn fault(bytes: u32) -> Guest {
    handling(
        PreToolUse,
        &format!(
            "(drop (memory.grow (i32.const 60))) (i32.store8 (i32.const 0) (i32.const 1))
             (i32.store (i32.const 8) (i32.const 65536)) (i32.store (i32.const 12) (i32.const {bytes}))"
        ),
        "",
    )
}

/// Known keys, one in each of thousands of objects.
fn known_keys() -> String {
    let mut text = String::from("{");
    for number in 0..1400 {
        write!(text, r#""{number}":{{"continue":0}},"#).unwrap();
    }
    text.push_str(r#""end":0}"#);
    text
}

hostile! {
    invalid_json_as_updated_input: text(PreToolUse, at::pre_tool_use::UPDATED_INPUT, "{") => Fails(BadOutput, "`updated-input`");
    no_json_as_extra: text(PreToolUse, at::pre_tool_use::EXTRA, "{}{}") => Fails(BadOutput, "`extra`");
    no_json_as_extra_of_another_event: text(Stop, at::STOP_EXTRA, "undefined") => Fails(BadOutput, "`extra`");
    no_json_as_updated_output: text(PostToolUse, at::UPDATED_OUTPUT, "'text'") => Fails(BadOutput, "`updated-output`");
    no_json_as_permitted_input: text(PermissionRequest, at::permission::UPDATED_INPUT, "NaN")
        => Fails(BadOutput, "`updated-input`");
    no_json_as_updated_permissions: text(PermissionRequest, at::permission::UPDATED_PERMISSIONS, "[1,]")
        => Fails(BadOutput, "`updated-permissions`");
    no_json_as_the_callbacks_input: text(CanUseTool, at::permission::UPDATED_INPUT, "{'a':1}")
        => Fails(BadOutput, "`updated-input`");
    no_json_as_updated_request: text(BeforeLlm, at::UPDATED_MESSAGE, "\u{feff}{}") => Fails(BadOutput, "`updated-request`");
    no_json_as_updated_response: text(AfterLlm, at::UPDATED_MESSAGE, "{\"a\":\"\\ud800\"}")
        => Fails(BadOutput, "`updated-response`");
    no_json_as_output_of_another_event: text(OtherEvent, at::UPDATED_MESSAGE, "") => Fails(BadOutput, "`output`");
    an_array_as_updated_input: text(PreToolUse, at::pre_tool_use::UPDATED_INPUT, "[]") => Fails(BadOutput, "an object");
    a_text_as_extra: text(PreToolUse, at::pre_tool_use::EXTRA, "\"{}\"") => Fails(BadOutput, "an object");
    a_number_as_updated_request: text(BeforeLlm, at::UPDATED_MESSAGE, "1e999") => Fails(BadOutput, "`updated-request`");
    null_as_output_of_another_event: text(OtherEvent, at::UPDATED_MESSAGE, "null") => Fails(BadOutput, "an object");
    the_same_key_twice: text(PreToolUse, at::pre_tool_use::UPDATED_INPUT, r#"{"command":"ls","command":"rm -rf /"}"#)
        => Fails(BadOutput, "twice");
    the_same_key_twice_once_escaped:
        text(PreToolUse, at::pre_tool_use::UPDATED_INPUT, r#"{"command":"ls","comm\u0061nd":"rm -rf /"}"#)
        => Fails(BadOutput, "twice");
    the_same_key_twice_deep_inside: text(PostToolUse, at::UPDATED_OUTPUT, r#"[[{"a":{"b":1,"b":2}}]]"#)
        => Fails(BadOutput, "twice");
    deep_json_as_updated_input: text(PreToolUse, at::pre_tool_use::UPDATED_INPUT, &deep(10_000))
        => Fails(BadOutput, "`updated-input`");
    deep_json_as_extra: text(PreToolUse, at::pre_tool_use::EXTRA, &deep(10_000)) => Fails(BadOutput, "`extra`");
    deep_json_as_updated_output: text(PostToolUse, at::UPDATED_OUTPUT, &deep(10_000))
        => Fails(BadOutput, "`updated-output`");
    deep_json_as_updated_permissions: text(PermissionRequest, at::permission::UPDATED_PERMISSIONS, &deep(10_000))
        => Fails(BadOutput, "`updated-permissions`");
    deep_json_as_updated_request: text(BeforeLlm, at::UPDATED_MESSAGE, &deep(10_000))
        => Fails(BadOutput, "`updated-request`");
    deep_json_as_updated_response: text(AfterLlm, at::UPDATED_MESSAGE, &deep(10_000))
        => Fails(BadOutput, "`updated-response`");
    deep_json_as_output_of_another_event: text(OtherEvent, at::UPDATED_MESSAGE, &deep(10_000))
        => Fails(BadOutput, "`output`");
    /// hookbox passes these keys on unchanged. A reader in a language where they are special must handle them.
    prototype_keys_as_updated_input:
        text(PreToolUse, at::pre_tool_use::UPDATED_INPUT, r#"{"__proto__":{"admin":true},"constructor":1}"#)
        => Answers(|report| {
            report.result.as_ref().unwrap().updated
                == Some(serde_json::json!({ "__proto__": { "admin": true }, "constructor": 1 }))
        });
    prototype_keys_as_extra: text(PreToolUse, at::pre_tool_use::EXTRA, r#"{"__proto__":{"continue":false},"toString":1}"#)
        => Answers(|report| !report.result.as_ref().unwrap().extra["__proto__"].as_object().unwrap().contains_key("continue"));
    /// The note on dropped keys comes only once.
    known_keys_without_end: text(PreToolUse, at::pre_tool_use::EXTRA, &known_keys())
        => Answers(|report| report.notes.len() == 1);
    a_fault_with_a_long_message: fault(3 << 20) => Fails(OutputTooLarge, "1024 KiB");
    a_fault_with_a_message_from_outside_memory: fault(1 << 30) => Fails(Trap, "string pointer/length out of bounds of memory");
    /// The component exports only stop, and the event is a tool call.
    an_answer_to_another_event: Guest { kind: PreToolUse, ..handling(Stop, "", "") }
        => Fails(Load, "does not handle PreToolUse");
}
