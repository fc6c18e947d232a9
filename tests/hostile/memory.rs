//! Guests that ask for too much memory.

use hookbox::{Cause::*, Limits};

use hookbox_testing::guest;

use crate::stage::{End::*, Guest, gate};

/// A `cabi_realloc` that grows memory by this number of pages in an endless loop.
fn greedy_realloc(pages: u32) -> Guest {
    let grow = format!("(local $at i32) (loop $again (drop (memory.grow (i32.const {pages}))) (br $again))");
    let module = guest::gate("", "").replace("(local $at i32)", &grow);
    Guest::of(guest::encode(&module, guest::GATE, ""))
}

fn initial_memory(pages: u32) -> Guest {
    let module = guest::gate("", "").replace("(export \"memory\") 1)", &format!("(export \"memory\") {pages})"));
    Guest::of(guest::encode(&module, guest::GATE, ""))
}

/// A denial whose reason has 32 MiB.
const LONG_REASON: &str = "(drop (memory.grow (i32.const 512)))
    (i32.store8 (i32.const 4) (i32.const 3))
    (call $say (i32.const 4) (i32.const 8) (i32.const 65536) (i32.const 33554432))";

hostile! {
    memory_page_by_page: gate("(loop $again (drop (memory.grow (i32.const 1))) (br $again))", "")
        => Fails(OutOfMemory, "the limit is 64 MiB");
    memory_all_at_once: gate("(drop (memory.grow (i32.const 65535)))", "") => Fails(OutOfMemory, "the limit is 64 MiB");
    memory_more_than_there_is: gate("(drop (memory.grow (i32.const -1)))", "") => Fails(OutOfMemory, "memory");
    memory_to_begin_with: initial_memory(1025) => Fails(OutOfMemory, "the limit is 64 MiB");
    /// The initial size exceeds the highest possible limit.
    memory_to_begin_with_beyond_every_limit: initial_memory(65536) => Refused("Memory", "starts with 4096 MiB");
    memory_in_realloc: greedy_realloc(16) => Fails(OutOfMemory, "the limit is 64 MiB");
    growing_by_nothing_without_end: gate("(loop $again (drop (memory.grow (i32.const 0))) (br $again))", "").until(50)
        => Fails(Timeout, "timeout");
    tables_without_end: gate("(loop $again (drop (table.grow (ref.null func) (i32.const 1000))) (br $again))",
        "(table 0 funcref)") => Fails(OutOfMemory, "table elements");
    /// Each element costs fuel, so the guest runs out of fuel first.
    a_table_all_at_once: gate("(drop (table.grow (ref.null func) (i32.const 0x7fffffff)))", "(table 0 funcref)")
        => Fails(OutOfFuel, "fuel");
    /// Each table is within the limit, but not all of them together.
    many_tables_at_their_limit: gate("", &"(table 20000 funcref)".repeat(8)) => Fails(OutOfMemory, "table elements");
    a_table_beyond_every_limit: gate("", "(table 200000 funcref)") => Refused("Invalid", "table");
    a_reason_of_32_mib: gate(LONG_REASON, "") => Fails(OutputTooLarge, "1024 KiB");
    /// The guest has enough memory for it, but outputs have a separate limit.
    a_reason_of_100_mib: gate(&LONG_REASON.replace("512", "1700").replace("33554432", "104857600"), "")
        .limits(Limits { memory_mib: 128, ..Limits::default() }) => Fails(OutputTooLarge, "1024 KiB");
    a_reason_just_too_long: gate(&LONG_REASON.replace("33554432", "1048577"), "") => Fails(OutputTooLarge, "1024 KiB");
}
