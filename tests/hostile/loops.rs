//! Guests that never end.

use hookbox::{Cause::*, Limits};

use hookbox_testing::guest;

use crate::stage::{End::Fails, Guest, gate, handling};

const SPIN: &str = "(loop $again (br $again))";

/// A start function with this body.
fn start(body: &str) -> Guest {
    gate("", &format!("(func $start {body}) (start $start)"))
}

/// A `cabi_realloc` that starts with this body.
fn realloc(body: &str) -> Guest {
    let module = guest::gate("", "").replace("(local $at i32)", &format!("(local $at i32) {body}"));
    Guest::of(guest::encode(&module, guest::GATE, ""))
}

/// A `cabi_post_…` with this body. It runs after the host has read the result.
fn post_return(body: &str) -> Guest {
    gate("", &format!(r#"(func (export "cabi_post_hookbox:hooks/pre-tool-use@0.2.0#handle") (param i32) {body})"#))
}

const EVEN_AND_ODD: &str = "
    (type $step (func (param i32)))
    (table 2 2 funcref) (elem (i32.const 0) $even $odd)
    (func $even (type $step) (call_indirect (type $step) (local.get 0) (i32.const 1)) (call $nothing))
    (func $odd (type $step) (call_indirect (type $step) (local.get 0) (i32.const 0)) (call $nothing))
    (func $nothing)";

hostile! {
    a_loop_uses_up_its_fuel: gate(SPIN, "").limits(Limits { fuel: 1_000_000, ..Limits::default() })
        => Fails(OutOfFuel, "used up its 1000000 units of fuel");
    a_loop_with_fuel_uses_up_its_time: gate(SPIN, "").until(50) => Fails(Timeout, "did not return within its timeout");
    a_loop_of_calls_uses_up_its_fuel: gate("(loop $again (call $f) (br $again))", "(func $f)")
        => Fails(OutOfFuel, "fuel");
    a_loop_of_calls_uses_up_its_time: gate("(loop $again (call $f) (br $again))", "(func $f)").until(50)
        => Fails(Timeout, "timeout");
    a_loop_that_counts_to_2_to_the_64:
        gate("(local $i i64) (loop $again (br_if $again (i64.ne (i64.const 0)
            (local.tee $i (i64.add (local.get $i) (i64.const 1))))))", "").until(50)
        => Fails(Timeout, "timeout");
    a_loop_in_every_event_is_the_same: handling(hookbox::EventKind::Stop, SPIN, "").until(50) => Fails(Timeout, "timeout");
    recursion: gate("(call $f)", "(func $f (call $f) (call $f))") => Fails(StackOverflow, "too deep");
    recursion_with_large_frames: gate(
        "(call $f (i64.const 1))",
        "(func $f (param i64) (result)
            (local $a v128) (local $b v128) (local $c v128) (local $d v128)
            (local.set $a (i64x2.splat (local.get 0)))
            (call $f (i64.add (local.get 0) (i64.const 1)))
            (drop (i64x2.add (local.get $a) (local.get $b))) (call $f (local.get 0)))")
        => Fails(StackOverflow, "too deep");
    mutual_recursion_through_a_table: gate("(call_indirect (type $step) (i32.const 0) (i32.const 0))", EVEN_AND_ODD)
        => Fails(StackOverflow, "too deep");
    recursion_in_a_start_function: gate("", "(func $f (call $f) (call $f)) (start $f)")
        => Fails(StackOverflow, "too deep");
    a_start_function_that_never_ends: start(SPIN).until(50) => Fails(Timeout, "timeout");
    a_start_function_that_uses_up_the_fuel: start(SPIN) => Fails(OutOfFuel, "fuel");
    a_start_function_that_traps: start("(unreachable)") => Fails(Trap, "gave up");
    a_realloc_that_never_ends: realloc(SPIN).until(50) => Fails(Timeout, "timeout");
    a_post_return_that_never_ends: post_return(SPIN).until(50) => Fails(Timeout, "timeout");
    a_post_return_that_traps: post_return("(unreachable)") => Fails(Trap, "gave up");
    filling_memory_again_and_again:
        gate("(drop (memory.grow (i32.const 900)))
            (loop $again (memory.fill (i32.const 65536) (i32.const 1) (i32.const 58000000)) (br $again))", "").until(50)
        => Fails(Timeout, "timeout");
    a_panic: gate("(unreachable)", "") => Fails(Trap, "a panic, or a failed assertion");
    division_by_zero: gate("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "") => Fails(Trap, "divide by zero");
    division_that_overflows: gate("(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))", "")
        => Fails(Trap, "overflow");
    a_float_that_is_no_integer: gate("(drop (i32.trunc_f32_s (f32.const nan)))", "") => Fails(Trap, "integer");
    a_call_of_no_function: gate("(call_indirect (i32.const 0))", "(table 1 funcref)") => Fails(Trap, "uninitialized");
    a_call_outside_the_table: gate("(call_indirect (i32.const -1))", "(table 1 funcref)")
        => Fails(Trap, "out of bounds");
    a_call_of_another_type: gate("(call_indirect (param i64) (i64.const 1) (i32.const 0))",
        "(table 1 funcref) (func $f) (elem (i32.const 0) $f)") => Fails(Trap, "type mismatch");
}
