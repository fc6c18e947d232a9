//! A histogram with a logarithmic scale. Percentiles are accurate to 20 %.

use serde::{Deserialize, Serialize};

/// The number of steps. The last one includes all larger values.
const STEPS: u8 = 64;

/// The number of values per step of √2. Only steps with values take memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scale(Vec<(u8, u32)>);

impl Scale {
    /// Counts one value.
    pub fn add(&mut self, value: u64) {
        self.count(step(value), 1);
    }

    /// Adds the values of another scale.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(step, count)| self.count(*step, *count));
    }

    fn count(&mut self, step: u8, count: u32) {
        match self.0.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(index) => {
                if let Some((_, counted)) = self.0.get_mut(index) {
                    *counted = counted.saturating_add(count);
                }
            }
            Err(index) => self.0.insert(index, (step, count)),
        }
    }

    /// The value that this fraction of all values (such as 0.99) does not exceed. `None` without values.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let all: u64 = self.0.iter().map(|(_, count)| u64::from(*count)).sum();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = ((all as f64 * part).ceil() as u64).max(1);
        let mut below = 0;
        self.0.iter().find_map(|(step, count)| {
            below += u64::from(*count);
            (below >= rank).then(|| middle(*step))
        })
    }

    /// The upper bound and the count of each step with values.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u32)> {
        self.0.iter().map(|(step, count)| (bound(*step), *count))
    }

    /// Returns true if all steps are valid and in order, because the scale may come from a file.
    pub fn is_valid(&self) -> bool {
        self.0.iter().all(|(step, _)| *step < STEPS) && self.0.is_sorted_by(|(one, _), (other, _)| one < other)
    }
}

/// The step of a value. Step 0 contains 0 and 1; each further step is √2 times as large.
fn step(value: u64) -> u8 {
    (0..STEPS - 1).find(|step| value <= bound(*step)).unwrap_or(STEPS - 1)
}

/// The largest value of a step.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^32")]
fn bound(step: u8) -> u64 {
    f64::from(step).mul_add(0.5, 0.0).exp2().floor() as u64
}

fn middle(step: u8) -> u64 {
    let below = step.checked_sub(1).map_or(0, bound);
    u64::midpoint(below, bound(step)).max(1)
}

#[cfg(test)]
mod tests {
    use super::{STEPS, Scale, bound, step};

    #[test]
    fn a_quantile_is_near_the_value() {
        let mut scale = Scale::default();
        (1..=1000_u64).for_each(|value| scale.add(value * 100));
        for (part, expected) in [(0.5, 50_000.0), (0.99, 99_000.0)] {
            let found = scale.quantile(part).map_or(0.0, |value| f64::from(u32::try_from(value).unwrap_or(u32::MAX)));
            assert!((found / expected - 1.0_f64).abs() < 0.25, "{part}: {found}");
        }
        assert_eq!(Scale::default().quantile(0.5), None);
        assert_eq!(scale.steps().map(|(_, count)| count).sum::<u32>(), 1000);
    }

    #[test]
    fn every_value_has_a_step() {
        for value in [0, 1, 2, 3, 1000, u64::MAX] {
            let step = step(value);
            assert!(step < STEPS && (value <= bound(step) || step == STEPS - 1), "{value}");
        }
    }

    #[test]
    fn counts_of_all_scales_agree() {
        let (mut one, mut other) = (Scale::default(), Scale::default());
        one.add(10);
        other.add(10);
        other.add(100_000);
        one.merge(&other);
        assert!(one.is_valid());
        assert_eq!(one.steps().map(|(_, count)| count).collect::<Vec<_>>(), [2, 1]);
    }
}
