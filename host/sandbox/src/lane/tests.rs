use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use super::{HEAVY, LONG, Lane, QUIET, SHARE, Seen, TICK, TURN};

#[test]
fn one_thread_is_kept_for_those_who_begin() {
    let (lane, mut seen) = (Lane::of(4), Seen::default());
    lane.begin("a");
    for _ in 0..QUIET {
        lane.tick(&mut seen);
        assert_eq!(lane.line().turns, 3);
    }
    lane.tick(&mut seen);
    assert_eq!(lane.line().turns, 4);
    lane.begin("a");
    lane.tick(&mut seen);
    assert_eq!(lane.line().turns, 3);
    // Somebody has a turn even where there is one thread only.
    let lane = Lane::of(1);
    lane.begin("a");
    lane.tick(&mut Seen::default());
    assert_eq!(lane.line().turns, 1);
}

fn is_there(turn: &mut Pin<Box<impl Future<Output = ()>>>) -> bool {
    matches!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()))
}

#[test]
fn who_ran_for_less_goes_first_and_nobody_waits_for_ever() {
    let (lane, mut seen) = (Lane::of(1), Seen::default());
    lane.line().turns = 0;
    // The first poll is what lets others run.
    let wait = |ran| {
        let lane = &lane;
        let mut turn = Box::pin(async move { lane.turn(&Arc::from("a"), ran * TURN).await });
        assert!(!is_there(&mut turn) && !is_there(&mut turn));
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

/// A lane in which the tenant `heavy` has run for long.
fn with_heavy() -> (Lane, Seen) {
    let (lane, mut seen) = (Lane::of(2), Seen::default());
    let mut turn = Box::pin(async { lane.turn(&Arc::from("heavy"), LONG).await });
    assert!(!is_there(&mut turn) && is_there(&mut turn));
    drop(turn);
    lane.begin("heavy");
    // What began before anybody was heavy is long ago.
    (0..QUIET).for_each(|_| lane.tick(&mut seen));
    (lane, seen)
}

/// A call that never ends, and how often it was run.
fn endless<'a>(lane: &'a Lane, tenant: &'a str, ran: &'a AtomicUsize) -> Pin<Box<impl Future<Output = ()> + 'a>> {
    Box::pin(lane.paced(
        tenant,
        std::future::poll_fn(|_| {
            ran.fetch_add(1, Ordering::Relaxed);
            Poll::Pending
        }),
    ))
}

#[test]
fn a_heavy_tenant_is_held_while_others_begin() {
    let (lane, mut seen) = with_heavy();
    let (heavy_ran, other_ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (mut heavy, mut other) = (endless(&lane, "heavy", &heavy_ran), endless(&lane, "other", &other_ran));
    lane.begin("other");
    lane.tick(&mut seen);
    let ticks = 10 * SHARE;
    for _ in 0..ticks {
        (0..5).for_each(|_| assert!(!is_there(&mut heavy) && !is_there(&mut other)));
        lane.begin("other");
        lane.tick(&mut seen);
    }
    let ran = heavy_ran.load(Ordering::Relaxed);
    assert!((10..=11).contains(&ran), "{ran} slices in {ticks} ticks");
    assert_eq!(other_ran.load(Ordering::Relaxed) as u64, 5 * ticks);
}

#[test]
fn a_heavy_tenant_goes_on_where_nobody_else_begins_and_is_forgiven() {
    let (lane, mut seen) = with_heavy();
    let ran = AtomicUsize::new(0);
    let mut heavy = endless(&lane, "heavy", &ran);
    lane.begin("other");
    lane.tick(&mut seen);
    assert!(!is_there(&mut heavy) && !is_there(&mut heavy));
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    for _ in 0..QUIET {
        lane.begin("heavy");
        lane.tick(&mut seen);
    }
    (0..5).for_each(|_| assert!(!is_there(&mut heavy)));
    assert_eq!(ran.load(Ordering::Relaxed), 6);
    (0..HEAVY).for_each(|_| lane.tick(&mut seen));
    lane.begin("other");
    lane.tick(&mut seen);
    assert!(!lane.holds("heavy") && lane.line().heavy.is_empty());
}

#[test]
fn a_slice_that_took_long_is_followed_by_a_rest() {
    let (lane, mut seen) = with_heavy();
    lane.begin("other");
    lane.tick(&mut seen);
    let fill = std::future::poll_fn(|_| {
        std::thread::sleep(3 * TICK);
        Poll::<()>::Pending
    });
    let mut long = Box::pin(lane.paced("heavy", fill));
    assert!(!is_there(&mut long));
    let ran = AtomicUsize::new(0);
    // One that begins now waits, too.
    let mut next = endless(&lane, "heavy", &ran);
    for _ in 1..3 * SHARE {
        assert!(!is_there(&mut next));
        lane.begin("other");
        lane.tick(&mut seen);
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}
