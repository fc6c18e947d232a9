//! A bar chart as SVG.

use std::fmt::Write;

const HEIGHT: f64 = 100.0;

/// The picture as what media may refer to.
pub fn data_url(values: &[f64]) -> String {
    let largest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = format!("<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='100'>", values.len() * 12);
    for (index, value) in values.iter().enumerate() {
        let height = (value / largest * HEIGHT).round();
        let _ = write!(svg, "<rect x='{}' y='{}' width='10' height='{height}'/>", index * 12, HEIGHT - height);
    }
    svg.push_str("</svg>");
    format!(
        "data:image/svg+xml,{}",
        svg.replace('%', "%25").replace('#', "%23").replace('<', "%3C").replace('>', "%3E")
    )
}
