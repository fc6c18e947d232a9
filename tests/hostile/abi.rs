//! Guests that violate the canonical ABI, with wrong addresses, lengths and values.

use hookbox::{Cause::*, EventKind};

use hookbox_testing::guest;

use crate::stage::{End::*, Guest, gate, handling};

/// A `cabi_realloc` that returns this.
fn realloc(result: &str) -> Guest {
    let module = guest::gate("", "").replace("(local.get $at))\n", &format!("{result})\n"));
    assert_ne!(module, guest::gate("", ""));
    Guest::of(guest::encode(&module, guest::GATE, ""))
}

/// A denial whose reason has this address and length.
fn reason(pointer: &str, length: &str) -> String {
    format!(
        "(i32.store8 (i32.const 4) (i32.const 3))
        (call $say (i32.const 4) (i32.const 8) (i32.const {pointer}) (i32.const {length}))
        (i32.store8 (i32.const 4) (i32.const 3))"
    )
}

/// A session-start decision whose `env` has this length.
fn env(length: &str) -> Guest {
    handling(EventKind::SessionStart, &format!("(i32.store (i32.const 8) (i32.const {length}))"), "")
}

/// 60,000 variables in 960,000 bytes. Each name and value is the same 64 KiB of text, which is 7 GiB when read.
const ALIASES: &str = "(local $at i32)
    (drop (memory.grow (i32.const 31)))
    (local.set $at (i32.const 1000000))
    (loop $again
        (i32.store (local.get $at) (i32.const 65536)) (i32.store offset=4 (local.get $at) (i32.const 65536))
        (i32.store offset=8 (local.get $at) (i32.const 65536)) (i32.store offset=12 (local.get $at) (i32.const 65536))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $again (i32.lt_u (local.get $at) (i32.const 1960000))))
    (i32.store (i32.const 4) (i32.const 1000000)) (i32.store (i32.const 8) (i32.const 60000))";

/// An invalid discriminant at this address.
fn case(kind: EventKind, at: u32, case: u32) -> Guest {
    handling(kind, &format!("(i32.store8 (i32.const {at}) (i32.const {case}))"), "")
}

hostile! {
    realloc_outside_memory: realloc("(i32.const -16)") => Fails(Trap, "realloc return: beyond end of memory");
    realloc_at_the_very_end: realloc("(i32.const 65528)") => Fails(Trap, "realloc return: beyond end of memory");
    realloc_unaligned: realloc("(i32.const 16385)") => Fails(Trap, "realloc return: result not aligned");
    /// All strings of the event overwrite each other, which harms only the guest.
    realloc_always_the_same: realloc("(i32.const 16384)") => Answers(|report| report.notes.is_empty());
    realloc_over_the_result: realloc("(i32.const 0)") => Fails(Trap, "invalid expected discriminant");
    realloc_that_traps: realloc("(unreachable)") => Fails(Trap, "gave up");
    a_result_outside_memory: gate("(return (i32.const -4))", "") => Fails(Trap, "pointer out of bounds of memory");
    a_result_at_the_edge_of_memory: gate("(return (i32.const 65532))", "") => Fails(Trap, "pointer out of bounds of memory");
    a_result_unaligned: gate("(return (i32.const 2))", "") => Fails(Trap, "return pointer not aligned");
    text_outside_memory: gate(&reason("-16", "32"), "") => Fails(Trap, "string pointer/length out of bounds of memory");
    text_that_wraps_around: gate(&reason("4096", "-1"), "") => Fails(Trap, "string pointer/length out of bounds of memory");
    text_that_ends_after_memory: gate(&reason("65535", "2"), "") => Fails(Trap, "string pointer/length out of bounds of memory");
    text_of_no_bytes_outside_memory: gate(&reason("-1", "0"), "") => Fails(Trap, "string pointer/length out of bounds of memory");
    text_that_is_not_utf8: gate(&reason("4096", "2"), r#"(data (i32.const 4096) "\c3\28")"#) => Fails(Trap, "invalid utf-8 sequence of 1 bytes from index 0");
    text_cut_within_a_character: gate(&reason("4096", "2"), r#"(data (i32.const 4096) "\e2\82\ac")"#)
        => Fails(Trap, "incomplete utf-8 byte sequence from index 0");
    text_with_surrogates: gate(&reason("4096", "3"), r#"(data (i32.const 4096) "\ed\a0\80")"#)
        => Fails(Trap, "invalid utf-8 sequence of 1 bytes from index 0");
    text_with_overlong_forms: gate(&reason("4096", "2"), r#"(data (i32.const 4096) "\c0\af")"#)
        => Fails(Trap, "invalid utf-8 sequence of 1 bytes from index 0");
    a_list_of_2_to_the_28_entries: env("0x10000000") => Fails(Trap, "list pointer/length out of bounds of memory");
    a_list_of_2_to_the_32_entries: env("-1") => Fails(Trap, "list pointer/length out of bounds of memory");
    a_list_of_aliases: handling(EventKind::SessionStart, ALIASES, "") => Fails(OutputTooLarge, "1024 KiB");
    a_result_of_no_case: case(EventKind::PreToolUse, 0, 2) => Fails(Trap, "invalid expected discriminant");
    an_invalid_variant_case: case(EventKind::PreToolUse, 4, 6) => Fails(Trap, "unexpected discriminant: 6");
    an_option_of_no_case: case(EventKind::PreToolUse, 44, 2) => Fails(Trap, "invalid option discriminant");
    a_gate_of_no_case: case(EventKind::Stop, 4, 255) => Fails(Trap, "unexpected discriminant: 255");
    a_permission_of_no_case: case(EventKind::PermissionRequest, 4, 4) => Fails(Trap, "unexpected discriminant: 4");
    /// `halt` with an invalid scope.
    an_enum_of_no_case: handling(EventKind::PreToolUse,
        "(i32.store8 (i32.const 96) (i32.const 1)) (i32.store8 (i32.const 100) (i32.const 2))", "")
        => Fails(Trap, "unexpected discriminant: 2");
    a_fault_of_no_case: handling(EventKind::PreToolUse,
        "(i32.store8 (i32.const 0) (i32.const 1)) (i32.store8 (i32.const 4) (i32.const 9))", "")
        => Fails(Trap, "unexpected discriminant: 9");
    /// In the canonical ABI, every value but 0 is true.
    a_bool_of_77: case(EventKind::PreToolUse, 92, 77) => Answers(|report| report.result.as_ref().unwrap().suppress_output);
}
