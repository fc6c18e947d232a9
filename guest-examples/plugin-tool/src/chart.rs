//! A bar chart as text.

use std::fmt::Write;

/// Characters of the longest bar.
const WIDTH: f64 = 20.0;

/// Draws one line per value.
pub fn text(values: &[f64]) -> String {
    let largest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut text = String::new();
    for value in values {
        let signs = (0..20).map(f64::from).filter(|sign| sign + 0.5 <= value / largest * WIDTH).count();
        let _ = writeln!(text, "{} {value}", "█".repeat(signs));
    }
    text
}
