//! Reads lines of limited length from a stream.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// A line without its newline, or the first `limit` bytes of it.
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    /// True if the line is longer than the limit. The rest is still to be read or [skipped](skip).
    pub(crate) cut: bool,
}

/// Reads the next line, at most `limit` bytes of it. `None` at the end of the stream. The last line may lack a newline.
///
/// Yields after a whole line. Otherwise lines that are in the buffer already would be read without a pause, and no
/// timeout would be noticed. The last line of a stream and its end are read without a pause between them.
pub(crate) async fn next(input: &mut (impl AsyncBufRead + Unpin), limit: usize) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    let maximum = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    input.take(maximum).read_until(b'\n', &mut bytes).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let ended = bytes.pop_if(|last| *last == b'\n').is_some();
    let cut = !ended && bytes.len() > limit;
    bytes.truncate(limit);
    if ended {
        tokio::task::yield_now().await;
    }
    Ok(Some(Line { bytes, cut }))
}

/// Skips the rest of a line.
pub(crate) async fn skip(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf().await?;
        let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_lines_are_cut_and_the_next_line_is_complete() {
        let mut input: &[u8] = b"abc\nabcd\nabcde\n\nab";
        let mut seen = Vec::new();
        while let Some(line) = next(&mut input, 3).await.unwrap() {
            if line.cut {
                skip(&mut input).await.unwrap();
            }
            seen.push((String::from_utf8(line.bytes).unwrap(), line.cut));
        }
        let expected = [("abc", false), ("abc", true), ("abc", true), ("", false), ("ab", false)];
        assert_eq!(seen, expected.map(|(text, cut)| (text.to_owned(), cut)));
    }
}
