//! A queue of lines for a file, a pipe or a terminal. A separate thread writes them, so that a reader that does not
//! read or a full disk delays only these lines.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// The maximum number of waiting lines.
const LINES: usize = 10_000;
/// The maximum size of waiting lines, in bytes.
const BYTES: usize = 16 << 20;

/// The output of a [`Queue`].
pub trait Sink: Send + 'static {
    /// Writes one line, which includes its newline.
    ///
    /// # Errors
    /// The line is lost.
    fn line(&mut self, line: &[u8]) -> io::Result<()>;

    /// Reopens a file that may have been moved.
    fn reopen(&mut self) {}

    /// Called for each lost line, with the reason. `first` is true for the first one since the last written line.
    fn lost(&mut self, first: bool, why: &str);

    /// Called when a line was written after this many lost lines.
    fn recovered(&mut self, lost: u64);
}

/// A bounded queue in front of a [`Sink`]. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Queue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Task>,
    lines: usize,
    bytes: usize,
    /// The number of lines that did not fit since the writer last checked.
    refused: u64,
    /// True while the writer is writing a line.
    busy: bool,
}

#[derive(Debug)]
enum Task {
    Line(Vec<u8>, Option<oneshot::Sender<bool>>),
    Reopen,
}

impl Queue {
    /// Starts the writer.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(name: &str, sink: impl Sink) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        thread::Builder::new().name(name.to_owned()).spawn(move || own.write(sink))?;
        Ok(Self(shared))
    }

    /// Queues a line, without its newline. It is lost if the queue is full.
    pub fn push(&self, line: &str) {
        self.add(line, None);
    }

    /// Queues a line. The receiver gets `true` once it is written. If the line is lost, it gets `false` or an error.
    pub fn confirmed(&self, line: &str) -> oneshot::Receiver<bool> {
        let (written, confirmed) = oneshot::channel();
        self.add(line, Some(written));
        confirmed
    }

    /// Makes the writer reopen its file after the lines that are queued now.
    pub fn reopen(&self) {
        self.0.lock().waiting.push_back(Task::Reopen);
        self.0.changed.notify_all();
    }

    /// Waits until everything is written, at most this long. Returns false on timeout.
    pub fn flush(&self, at_most: Duration) -> bool {
        let begin = Instant::now();
        let mut state = self.0.lock();
        while state.busy || !state.waiting.is_empty() {
            let Some(left) = at_most.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) else { return false };
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn add(&self, line: &str, written: Option<oneshot::Sender<bool>>) {
        let mut state = self.0.lock();
        let bytes = state.bytes.saturating_add(line.len() + 1);
        if state.lines >= LINES || bytes > BYTES {
            state.refused += 1;
        } else {
            (state.lines, state.bytes) = (state.lines + 1, bytes);
            state.waiting.push_back(Task::Line([line.as_bytes(), b"\n"].concat(), written));
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the writer, until the process ends.
    fn write(&self, mut sink: impl Sink) {
        let mut lost = 0_u64;
        loop {
            let mut state = self.lock();
            state.busy = false;
            self.changed.notify_all();
            while state.waiting.is_empty() && state.refused == 0 {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let refused = std::mem::take(&mut state.refused);
            let task = state.waiting.pop_front();
            if let Some(Task::Line(line, _)) = &task {
                (state.lines, state.bytes) = (state.lines - 1, state.bytes.saturating_sub(line.len()));
            }
            state.busy = true;
            drop(state);
            for _ in 0..refused {
                sink.lost(lost == 0, "their reader is too slow");
                lost += 1;
            }
            match task {
                None => {}
                Some(Task::Reopen) => sink.reopen(),
                Some(Task::Line(line, written)) => {
                    let result = sink.line(&line);
                    match &result {
                        Ok(()) if lost > 0 => {
                            sink.recovered(lost);
                            lost = 0;
                        }
                        Ok(()) => {}
                        Err(error) => {
                            sink.lost(lost == 0, &error.to_string());
                            lost += 1;
                        }
                    }
                    // The caller may have stopped waiting.
                    let _ = written.map(|written| written.send(result.is_ok()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        io,
        sync::{
            Arc, Mutex, MutexGuard, PoisonError,
            atomic::{AtomicBool, Ordering},
        },
        time::Duration,
    };

    use super::{BYTES, LINES, Queue, Sink};

    const PATIENCE: Duration = Duration::from_mins(1);

    #[derive(Debug, Default)]
    struct Seen {
        lines: usize,
        first: usize,
        lost: u64,
        recovered: Vec<u64>,
    }

    /// A sink that blocks while the test holds its lock, and fails if the test asks for it.
    #[derive(Debug, Clone, Default)]
    struct Held {
        seen: Arc<Mutex<Seen>>,
        open: Arc<Mutex<()>>,
        fails: Arc<AtomicBool>,
    }

    impl Held {
        fn seen(&self) -> MutexGuard<'_, Seen> {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Sink for Held {
        fn line(&mut self, _: &[u8]) -> io::Result<()> {
            let _open = self.open.lock();
            if self.fails.load(Ordering::SeqCst) {
                return Err(io::Error::other("full"));
            }
            self.seen().lines += 1;
            Ok(())
        }
        fn lost(&mut self, first: bool, _: &str) {
            let mut seen = self.seen();
            seen.lost += 1;
            seen.first += usize::from(first);
        }
        fn recovered(&mut self, lost: u64) {
            self.seen().recovered.push(lost);
        }
    }

    #[test]
    fn a_stalled_reader_delays_nothing() {
        let held = Held::default();
        let queue = Queue::start("test", held.clone()).unwrap();
        let shut = held.open.lock().unwrap();
        let more = 500;
        (0..LINES + more).for_each(|_| queue.push("line"));
        let confirmed = queue.confirmed("late");
        assert!(!queue.flush(Duration::from_millis(10)));
        assert_eq!(confirmed.blocking_recv().ok(), None);
        drop(shut);
        assert!(queue.flush(PATIENCE));
        assert_eq!(queue.confirmed("again").blocking_recv(), Ok(true));
        let seen = held.seen();
        // The line that the writer was writing had already left the queue.
        assert!((LINES + 1..=LINES + 2).contains(&seen.lines), "{seen:?}");
        assert_eq!((seen.lines as u64 + seen.lost, seen.first), ((LINES + more + 2) as u64, 1), "{seen:?}");
        assert_eq!(seen.recovered, [seen.lost], "{seen:?}");
    }

    #[test]
    fn long_lines_are_limited_in_bytes() {
        let held = Held::default();
        let queue = Queue::start("test", held.clone()).unwrap();
        let shut = held.open.lock().unwrap();
        let long = "x".repeat(BYTES / 8);
        (0..100).for_each(|_| queue.push(&long));
        assert!(queue.0.lock().bytes <= BYTES);
        drop(shut);
        assert!(queue.flush(PATIENCE));
        assert!(held.seen().lines <= 8 && held.seen().lost >= 90, "{:?}", held.seen());
    }

    #[test]
    fn dropped_lines_are_counted_until_writing_succeeds() {
        let held = Held::default();
        let queue = Queue::start("test", held.clone()).unwrap();
        held.fails.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            assert_eq!(queue.confirmed("line").blocking_recv(), Ok(false));
        }
        held.fails.store(false, Ordering::SeqCst);
        assert_eq!(queue.confirmed("line").blocking_recv(), Ok(true));
        assert!(queue.flush(PATIENCE));
        let seen = held.seen();
        assert_eq!((seen.first, seen.lost, seen.recovered.as_slice()), (1, 3, &[3][..]));
    }
}
