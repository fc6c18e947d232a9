//! Results as JUnit XML, for build servers.

use std::fmt::Write;

use super::Tested;

/// The report, with a test suite for each file of cases.
pub fn report(tested: &[Tested<'_>]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for suite in tested.chunk_by(|one, next| std::ptr::eq(one.file, next.file)) {
        let Some(first) = suite.first() else { continue };
        let file = escaped(&first.file.path.display().to_string());
        let failed = suite.iter().filter(|case| !case.holds(false)).count();
        let _ = writeln!(xml, "  <testsuite name=\"{file}\" tests=\"{}\" failures=\"{failed}\">", suite.len());
        for case in suite {
            let (name, time) = (escaped(&case.case.name), case.went.time.as_secs_f64());
            let _ = write!(xml, "    <testcase classname=\"{file}\" name=\"{name}\" time=\"{time:.3}\"");
            if case.holds(false) {
                xml.push_str("/>\n");
            } else {
                let (place, lines) = (escaped(&case.file.place(&case.case)), escaped(&case.lines().join("\n")));
                let _ = writeln!(xml, ">\n      <failure message=\"{place}\">{lines}</failure>\n    </testcase>");
            }
        }
        xml.push_str("  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

/// Escapes a text for XML. Invalid characters become question marks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_text_breaks_out() {
        assert_eq!(escaped("<a b=\"&\">\u{1b}[0m\né"), "&lt;a b=&quot;&amp;&quot;&gt;?[0m\né");
    }
}
