use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::{GRANT, HEAVY, Lane, QUIET, SHARE, Seen, TICK, clock::processor_time};

fn lane(threads: usize) -> (Arc<Lane>, Seen) {
    let lane = Lane::new();
    lane.line().turns = threads;
    (Arc::new(lane), Seen { threads: Some(threads), ..Seen::default() })
}

fn begin(lane: &Arc<Lane>, tenant: &str) {
    drop(lane.begin(&Arc::from(tenant)));
}

fn is_there<T>(turn: &mut Pin<Box<impl Future<Output = T>>>) -> bool {
    matches!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(_))
}

#[test]
fn one_thread_is_kept_for_those_who_begin() {
    let (four, mut seen) = lane(4);
    begin(&four, "a");
    for _ in 0..QUIET {
        four.tick(&mut seen);
        assert_eq!(four.line().turns, 3);
    }
    four.tick(&mut seen);
    assert_eq!(four.line().turns, 4);
    begin(&four, "a");
    four.tick(&mut seen);
    assert_eq!(four.line().turns, 3);
    // A single thread still gets a turn.
    let (one, mut seen) = lane(1);
    begin(&one, "a");
    one.tick(&mut seen);
    assert_eq!(one.line().turns, 1);
}

#[test]
fn who_ran_for_less_goes_first_and_nobody_waits_for_ever() {
    let (lane, mut seen) = lane(1);
    lane.line().turns = 0;
    let wait = |ran| {
        let lane = Arc::clone(&lane);
        let mut turn = Box::pin(async move { lane.turn(ran * TICK).await });
        assert!(!is_there(&mut turn));
        turn
    };
    let (mut old, mut young, gone) = (wait(40), wait(1), wait(0));
    drop(gone);
    lane.tick(&mut seen);
    assert!(is_there(&mut young) && !is_there(&mut old));
    for _ in 0..38 {
        let mut another = wait(1);
        lane.tick(&mut seen);
        assert!(is_there(&mut another) && !is_there(&mut old));
    }
    let mut another = wait(1);
    lane.tick(&mut seen);
    assert!(is_there(&mut old) && !is_there(&mut another));
}

/// Computes for `time` of processor time.
fn compute(time: Duration) {
    let until = processor_time() + time;
    while processor_time() < until {}
}

/// Returns a call that never ends, with slices of the given length, and the number of slices it has run.
fn endless(
    lane: &Arc<Lane>,
    tenant: &str,
    slice: Duration,
) -> (Pin<Box<impl Future<Output = ()> + use<>>>, Arc<AtomicUsize>) {
    let (pace, ran) = (lane.begin(&Arc::from(tenant)), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&ran);
    let call = poll_fn(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        compute(slice);
        Poll::Pending
    });
    (Box::pin(async move { pace.keep(pin!(call)).await }), ran)
}

/// Returns a scheduler with the heavy tenant `heavy`.
fn with_heavy() -> (Arc<Lane>, Seen) {
    let (lane, mut seen) = lane(2);
    let (mut call, _) = endless(&lane, "heavy", 4 * TICK);
    // The first slice is not measured.
    (0..4).for_each(|_| assert!(!is_there(&mut call)));
    assert!(lane.line().heavy.is_empty());
    assert!(!is_there(&mut call) && lane.line().heavy.contains_key("heavy"));
    // Let the calls that began before the tenant was heavy become old.
    (0..=QUIET).for_each(|_| lane.tick(&mut seen));
    (lane, seen)
}

#[test]
fn a_heavy_tenant_is_held_while_others_begin() {
    let (lane, mut seen) = with_heavy();
    let ((mut heavy, heavy_ran), (mut other, other_ran)) =
        (endless(&lane, "heavy", 2 * GRANT), endless(&lane, "other", Duration::ZERO));
    lane.tick(&mut seen);
    let ticks = 10 * SHARE;
    for _ in 0..ticks {
        (0..5).for_each(|_| assert!(!is_there(&mut heavy) && !is_there(&mut other)));
        begin(&lane, "other");
        lane.tick(&mut seen);
    }
    // The first slice is not measured.
    let ran = heavy_ran.load(Ordering::Relaxed);
    assert!((11..=12).contains(&ran), "{ran} slices in {ticks} ticks");
    assert_eq!(other_ran.load(Ordering::Relaxed) as u64, 5 * ticks);
}

#[test]
fn a_heavy_tenant_goes_on_where_nobody_else_begins_and_is_forgiven() {
    let (lane, mut seen) = with_heavy();
    let (mut heavy, ran) = endless(&lane, "heavy", 2 * GRANT);
    for _ in 0..5 {
        begin(&lane, "heavy");
        lane.tick(&mut seen);
        assert!(!is_there(&mut heavy));
    }
    assert_eq!(ran.load(Ordering::Relaxed), 5);
    (0..HEAVY).for_each(|_| lane.tick(&mut seen));
    begin(&lane, "other");
    lane.tick(&mut seen);
    assert!(!lane.holds("heavy") && lane.line().heavy.is_empty());

    // The same applies after a period in which the clock slept.
    let (lane, mut seen) = with_heavy();
    lane.pass(Duration::from_millis(HEAVY));
    begin(&lane, "other");
    lane.tick(&mut seen);
    assert!(!lane.holds("heavy"));
}

#[test]
fn a_grant_that_took_long_is_followed_by_a_rest() {
    let (lane, mut seen) = with_heavy();
    begin(&lane, "other");
    lane.tick(&mut seen);
    let (mut long, _) = endless(&lane, "heavy", 20 * TICK);
    (0..2).for_each(|_| assert!(!is_there(&mut long)));
    // A call that begins now waits, too.
    let (mut next, ran) = endless(&lane, "heavy", Duration::ZERO);
    for _ in 0..2 * SHARE {
        assert!(!is_there(&mut next));
        begin(&lane, "other");
        lane.tick(&mut seen);
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}
