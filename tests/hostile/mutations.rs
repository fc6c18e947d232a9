//! Components with random changes of their bytes, which must not harm the host.

use hookbox::Limits;

use hookbox_testing::guest;

use crate::stage::Guest;

/// Pseudo-random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Changes a byte, repeats some bytes or removes some.
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
        // Most of it is code, so that many variants still load.
        let work = "(i32.store (i32.const 8000) (i32.add (i32.load (i32.const 8004)) (call $say_nothing (i32.const 7))))";
        let items = "(func $say_nothing (param i32) (result i32) (local.get 0))";
        let honest = guest::encode(&guest::gate(&work.repeat(200), items), guest::GATE, "");
        let (loaded, answered) = survive(&honest, 0x9e37_79b9_7f4a_7c15, 500).await;
        // Changes of names and unused bytes are harmless, so some variants still work. If all or none did, the test
        // would prove nothing.
        assert!(0 < answered && answered < loaded && loaded < 500, "{loaded} loaded, {answered} answered");
    }
}
