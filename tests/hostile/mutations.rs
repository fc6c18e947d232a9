//! Honest components with some bytes changed: whatever becomes of them, the host stays whole.

use hookbox::Limits;

use hookbox_testing::guest;

use crate::stage::Guest;

/// Pseudo-random, and the same in every run.
struct Dice(u64);

impl Dice {
    /// A number below this one.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Changes a byte, or repeats some, or takes some out.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(bytes.len());
    let end = bytes.len().min(at + 1 + dice.below(8));
    match dice.below(8) {
        0..3 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
        3..6 => bytes[at] ^= 1 << dice.below(8),
        6 => {
            let repeated = bytes[at..end].to_vec();
            bytes.splice(at..at, repeated);
        }
        _ => drop(bytes.drain(at..end)),
    }
}

async fn survive(honest: &[u8], seed: u64, times: usize) -> (usize, usize) {
    let (mut dice, mut loaded, mut answered) = (Dice(seed), 0, 0);
    for _ in 0..times {
        let mut bytes = honest.to_vec();
        mutate(&mut bytes, &mut dice);
        let limits = Limits { fuel: 100_000, ..Limits::default() };
        if let Ok(report) = Guest::of(bytes).limits(limits).run().await {
            loaded += 1;
            answered += usize::from(report.result.is_ok());
        }
    }
    (loaded, answered)
}

hostile_tests! {
    async fn changed_bytes() {
        // Mostly code, so that many of them still load.
        let work = "(i32.store (i32.const 8000) (i32.add (i32.load (i32.const 8004)) (call $say_nothing (i32.const 7))))";
        let items = "(func $say_nothing (param i32) (result i32) (local.get 0))";
        let honest = guest::encode(&guest::gate(&work.repeat(200), items), guest::GATE, "");
        let (loaded, answered) = survive(&honest, 0x9e37_79b9_7f4a_7c15, 500).await;
        // A changed name or an unused byte does no harm, so some still work; were it all or none, nothing was tried.
        assert!(0 < answered && answered < loaded && loaded < 500, "{loaded} loaded, {answered} answered");
    }
}
