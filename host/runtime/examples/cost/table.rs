//! Times of two operations in alternating rounds, so that disturbances of the machine affect both.

use std::time::{Duration, Instant};

/// Sorted durations.
pub struct Times(Vec<Duration>);

/// The number of calls per round.
const ROUND: usize = 50;

/// Runs each operation `calls` times.
pub async fn compare(calls: usize, mut one: impl AsyncFnMut(), mut other: impl AsyncFnMut()) -> [Times; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=calls.div_ceil(ROUND) {
        for _ in 0..ROUND {
            let begin = Instant::now();
            one().await;
            times[0].push(begin.elapsed());
        }
        for _ in 0..ROUND {
            let begin = Instant::now();
            other().await;
            times[1].push(begin.elapsed());
        }
        if round == 0 {
            // The first round only warms up.
            times.iter_mut().for_each(Vec::clear);
        }
    }
    times.map(|mut times| {
        times.sort();
        Times(times)
    })
}

impl Times {
    /// The time within which `part` of a thousand calls completed.
    pub fn of_thousand(&self, part: usize) -> Duration {
        self.0[self.0.len() * part / 1000]
    }

    /// Prints one row: the median and the 99th percentile, and their ratio to `beside`.
    pub fn print_beside(name: &str, times: &Self, beside: Option<&Self>) {
        let column = |part| {
            let time = times.of_thousand(part);
            let ratio = beside.map(|beside| time.as_secs_f64() / beside.of_thousand(part).as_secs_f64());
            format!("{time:>10.1?} {}", ratio.map_or_else(|| "       ".into(), |ratio| format!("×{ratio:>6.2}")))
        };
        println!("  {name:24}  p50 {}   p99 {}", column(500), column(990));
    }
}
