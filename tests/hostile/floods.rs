//! Guests that exhaust the host with calls, text, sleep and randomness.

use hookbox::{Cause::*, Limits};

use crate::stage::{End::Fails, Guest, importing};

const LOG: &str = r#"(import "hookbox:hooks/log@0.2.0" "log" (func $log (param i32 i32 i32)))"#;
const CONFIG: &str = r#"(import "hookbox:hooks/config@0.2.0" "get" (func $get (param i32)))"#;

fn logging(pointer: u32, length: u32) -> Guest {
    let body =
        format!("(loop $again (call $log (i32.const 0) (i32.const {pointer}) (i32.const {length})) (br $again))");
    importing(&body, LOG, "import hookbox:hooks/log@0.2.0;", "")
}

fn asking_for_its_config() -> Guest {
    let body = "(loop $again (global.set $free (i32.const 16384)) (call $get (i32.const 8192)) (br $again))";
    importing(body, CONFIG, "import hookbox:hooks/config@0.2.0;", "")
}

pub const IO: &str = "
    package wasi:io@0.2.3 {
        interface error { resource error; }
        interface poll {
            resource pollable { block: func(); }
            poll: func(in: list<borrow<pollable>>) -> list<u32>;
        }
        interface streams {
            use error.{error};
            variant stream-error { last-operation-failed(error), closed }
            resource output-stream {
                blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
                write-zeroes: func(len: u64) -> result<_, stream-error>;
            }
        }
    }
    package wasi:clocks@0.2.3 {
        interface monotonic-clock {
            use wasi:io/poll@0.2.3.{pollable};
            subscribe-duration: func(when: u64) -> pollable;
        }
    }
    package wasi:cli@0.2.3 {
        interface stdout { use wasi:io/streams@0.2.3.{output-stream}; get-stdout: func() -> output-stream; }
        interface exit { exit: func(status: result); }
    }
    package wasi:random@0.2.3 { interface random { get-random-bytes: func(len: u64) -> list<u8>; } }";

const SLEEP: &str = r#"
    (import "wasi:clocks/monotonic-clock@0.2.3" "subscribe-duration" (func $after (param i64) (result i32)))
    (import "wasi:io/poll@0.2.3" "[method]pollable.block" (func $block (param i32)))
    (import "wasi:io/poll@0.2.3" "poll" (func $poll (param i32 i32 i32)))"#;

fn sleeping(body: &str) -> Guest {
    importing(body, SLEEP, "import wasi:clocks/monotonic-clock@0.2.3; import wasi:io/poll@0.2.3;", IO)
}

const OUT: &str = r#"
    (import "wasi:cli/stdout@0.2.3" "get-stdout" (func $stdout (result i32)))
    (import "wasi:io/streams@0.2.3" "[method]output-stream.blocking-write-and-flush"
        (func $write (param i32 i32 i32 i32)))"#;

fn printing(body: &str) -> Guest {
    importing(body, OUT, "import wasi:cli/stdout@0.2.3; import wasi:io/streams@0.2.3;", IO)
}

fn drawing(length: u64) -> Guest {
    let body = format!(
        "(loop $again (global.set $free (i32.const 16384))
            (call $random (i64.const {length}) (i32.const 8192)) (br $again))"
    );
    let import = r#"(import "wasi:random/random@0.2.3" "get-random-bytes" (func $random (param i64 i32)))"#;
    importing(&body, import, "import wasi:random/random@0.2.3;", IO)
}

/// Polls one pollable this many times in one call, repeatedly. Its handle is a `u32` at 65536 and later.
fn polling_it(times: u32) -> Guest {
    sleeping(&format!(
        "(local $at i32) (local $it i32)
        (drop (memory.grow (i32.const 64))) (local.set $it {HOUR})
        (loop $fill
            (i32.store offset=65536 (local.get $at) (local.get $it))
            (local.set $at (i32.add (local.get $at) (i32.const 4)))
            (br_if $fill (i32.lt_u (local.get $at) (i32.const {}))))
        (loop $again
            (call $poll (i32.const 65536) (i32.const {times}) (i32.const 8192)) (br $again))",
        times * 4
    ))
}

/// `i64::MAX` nanoseconds, which is 292 years.
const CENTURIES: &str = "(call $after (i64.const 0x7fffffffffffffff))";
const HOUR: &str = "(call $after (i64.const 3600000000000))";

hostile! {
    a_log_of_many_bytes: logging(4096, 4096) => Fails(LogFlood, "64 KiB");
    a_log_of_many_empty_lines: logging(4096, 0) => Fails(LogFlood, "64 KiB");
    log_lines_of_half_a_memory: logging(32768, 32768) => Fails(LogFlood, "64 KiB");
    a_log_line_from_outside_memory: logging(4096, 1 << 30) => Fails(Trap, "string pointer/length out of bounds of memory");
    many_host_calls: asking_for_its_config() => Fails(TooManyHostCalls, "more than 10000 times");
    /// Hardly any instructions run between two host calls, so the deadline must not depend on instructions.
    host_calls_until_the_deadline:
        asking_for_its_config().limits(Limits { host_calls: u32::MAX, ..Limits::default() }).until(50)
        => Fails(Timeout, "timeout");
    host_calls_burn_fuel_too:
        asking_for_its_config().limits(Limits { host_calls: u32::MAX, fuel: 100_000, ..Limits::default() })
        => Fails(OutOfFuel, "fuel");
    sleeping_for_an_hour: sleeping(&format!("(call $block {HOUR})")).until(50) => Fails(Timeout, "timeout");
    sleeping_for_centuries: sleeping(&format!("(call $block {CENTURIES})")).until(50) => Fails(Timeout, "timeout");
    sleeping_in_poll:
        sleeping(&format!("(i32.store (i32.const 4096) {HOUR}) (call $poll (i32.const 4096) (i32.const 1) (i32.const 8192))"))
            .until(50)
        => Fails(Timeout, "timeout");
    sleeping_in_short_naps: sleeping("(loop $again (call $block (call $after (i64.const 1000))) (br $again))").until(50)
        => Fails(Timeout, "timeout");
    polling_nothing: sleeping("(call $poll (i32.const 4096) (i32.const 0) (i32.const 8192))") => Fails(Trap, "empty poll list");
    polling_one_thing_a_thousand_times: polling_it(1000).until(50) => Fails(Timeout, "timeout");
    polling_one_thing_a_million_times: polling_it(1_000_000).until(50) => Fails(OutputTooLarge, "passed more");
    polling_one_thing_more_often_than_can_be_held: polling_it(2000).until(50) => Fails(Trap, "handle limit");
    polling_what_is_none: sleeping("(call $block (i32.const 77))") => Fails(Trap, "unknown handle index 77");
    pollables_without_end: sleeping(&format!("(loop $again (drop {HOUR}) (br $again))")) => Fails(OutOfMemory, "more than 1024");
    printing_without_end:
        printing("(local $out i32) (local.set $out (call $stdout))
            (loop $again (call $write (local.get $out) (i32.const 4096) (i32.const 4096) (i32.const 0)) (br $again))")
            .until(50)
        => Fails(Timeout, "timeout");
    printing_more_than_a_stream_takes:
        printing("(call $write (call $stdout) (i32.const 4096) (i32.const 50000) (i32.const 8192))")
        => Fails(Trap, "4096");
    streams_without_end: printing("(loop $again (drop (call $stdout)) (br $again))") => Fails(OutOfMemory, "more than 1024");
    randomness_without_end: drawing(32768).until(50) => Fails(Timeout, "timeout");
    randomness_all_at_once: drawing(1 << 40) => Fails(Trap, "requested len 1099511627776 exceeds limit 65536");
    ending_the_process:
        importing("(call $exit (i32.const 1))",
            r#"(import "wasi:cli/exit@0.2.3" "exit" (func $exit (param i32)))"#, "import wasi:cli/exit@0.2.3;", IO)
        => Fails(Trap, "exit code 1");
}
