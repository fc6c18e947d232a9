//! The clock that interrupts running calls: it advances the epoch of the engine.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use tokio::time::Instant;

use crate::lane::{Lane, Seen, TICK};

/// Ticks for which the clock continues after the last call. Waking a sleeping clock costs more than a small call.
const LINGER: u32 = 50;

/// Advances the engine's epoch every [`TICK`] while calls run and for [`LINGER`] ticks longer, so that an idle host
/// sleeps.
#[derive(Default)]
pub(crate) struct Clock {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    started: bool,
    calls: usize,
    asleep: bool,
    closed: bool,
}

impl Clock {
    /// Starts the clock unless it is running.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(self: &Arc<Self>, engine: &wasmtime::Engine, lane: &Arc<Lane>) -> io::Result<()> {
        self.start_and(engine, lane, |_| ())
    }

    /// Ticks while the guard lives.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn ticking(self: &Arc<Self>, engine: &wasmtime::Engine, lane: &Arc<Lane>) -> io::Result<Ticking> {
        self.start_and(engine, lane, |state| state.calls += 1)?;
        Ok(Ticking(Arc::clone(self)))
    }

    /// Ends the thread.
    pub(crate) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    #[cfg(test)]
    pub(crate) fn calls(&self) -> usize {
        self.change(|state| state.calls)
    }

    #[cfg(test)]
    pub(crate) fn is_started(&self) -> bool {
        self.change(|state| state.started)
    }

    /// Starts the thread if needed, and changes the state. The thread starts with the first call, because starting it
    /// earlier would delay loading.
    fn start_and(
        self: &Arc<Self>,
        engine: &wasmtime::Engine,
        lane: &Arc<Lane>,
        change: impl FnOnce(&mut State),
    ) -> io::Result<()> {
        self.change(|state| {
            if !state.started {
                self.spawn(engine.clone(), Arc::clone(lane))?;
                state.started = true;
            }
            change(state);
            Ok(())
        })
    }

    fn spawn(self: &Arc<Self>, engine: wasmtime::Engine, lane: Arc<Lane>) -> io::Result<()> {
        let own = Arc::clone(self);
        thread::Builder::new().name("hookbox-clock".into()).spawn(move || {
            let (mut seen, mut idle) = (Seen::default(), 0);
            while let Some(slept) = own.goes_on(&mut idle) {
                lane.pass(slept);
                thread::sleep(TICK);
                // Grant turns before the epoch interrupts calls and they request a turn.
                lane.tick(&mut seen);
                engine.increment_epoch();
            }
        })?;
        Ok(())
    }

    /// Sleeps once no call has run for [`LINGER`] ticks, and returns how long it slept. Returns `None` when the engine
    /// is closed.
    fn goes_on(&self, idle_ticks: &mut u32) -> Option<Duration> {
        let mut slept = Duration::ZERO;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *idle_ticks = if state.calls == 0 { idle_ticks.saturating_add(1) } else { 0 };
        if *idle_ticks > LINGER {
            state.asleep = true;
            let asleep = Instant::now();
            let idle = |state: &mut State| state.calls == 0 && !state.closed;
            state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
            *idle_ticks = 0;
            slept = asleep.elapsed();
        }
        (!state.closed).then_some(slept)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let done = change(&mut state);
        // Notifying on every change would cost a system call each time.
        if state.asleep {
            self.changed.notify_one();
        }
        done
    }
}

/// The guard of one call, during which the clock ticks.
pub(crate) struct Ticking(Arc<Clock>);

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.change(|state| state.calls = state.calls.saturating_sub(1));
    }
}
