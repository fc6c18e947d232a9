//! Merges data segments. Go's linker writes tens of thousands of small ones, and wizer adds more. Every instance has
//! overhead per segment, which would exceed the start-up time that the snapshot saves, and a large program would exceed
//! the limit of segments.

use wasm_encoder::{ConstExpr, DataSection, Module, RawSection};
use wasmparser::{DataKind, Operator, Parser, Payload};

/// The maximum gap in bytes between segments that are merged. Within a page, the gap costs nothing.
const GAP: usize = 4096;

/// The module with its initial memory in few segments. Unchanged if it refers to segments by index.
pub fn merged(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut merged = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match &payload {
            Payload::DataSection(section) => {
                let mut segments = Vec::new();
                for data in section.clone() {
                    let data = data?;
                    let DataKind::Active { memory_index: 0, offset_expr } = data.kind else { continue };
                    let mut offset = offset_expr.get_operators_reader();
                    let Operator::I32Const { value } = offset.read()? else { return Ok(module.to_vec()) };
                    segments.push((usize::try_from(value.cast_unsigned())?, data.data));
                }
                merged.section(&join(segments));
            }
            // Needed only for references to segments by index.
            Payload::DataCountSection { .. } => {}
            Payload::CodeSectionEntry(body) => {
                let mut operators = body.get_operators_reader()?;
                while !operators.eof() {
                    if matches!(operators.read()?, Operator::MemoryInit { .. } | Operator::DataDrop { .. }) {
                        return Ok(module.to_vec());
                    }
                }
            }
            other => {
                if let Some((id, range)) = other.as_section() {
                    let data = module.get(range).unwrap_or_default();
                    merged.section(&RawSection { id, data });
                }
            }
        }
    }
    Ok(merged.finish())
}

/// Joins segments. Later ones overwrite earlier ones, as when a module is instantiated.
fn join(segments: Vec<(usize, &[u8])>) -> DataSection {
    let mut ordered: Vec<_> = segments.iter().map(|(start, data)| (*start, start + data.len())).collect();
    ordered.sort_unstable();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (start, end) in ordered {
        match ranges.last_mut() {
            Some((_, last)) if start <= *last + GAP => *last = end.max(*last),
            _ => ranges.push((start, end)),
        }
    }
    let mut contents: Vec<Vec<u8>> = ranges.iter().map(|(start, end)| vec![0; end - start]).collect();
    for (start, data) in segments {
        let index = ranges.partition_point(|(first, _)| *first <= start).saturating_sub(1);
        let place = ranges.get(index).zip(contents.get_mut(index)).and_then(|((first, _), content)| {
            let at = start - first;
            content.get_mut(at..at + data.len())
        });
        if let Some(place) = place {
            place.copy_from_slice(data);
        }
    }
    let mut section = DataSection::new();
    for ((start, _), content) in ranges.iter().zip(contents) {
        section.active(0, &ConstExpr::i32_const(u32::try_from(*start).unwrap_or(u32::MAX).cast_signed()), content);
    }
    section
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn near_segments_become_one_and_later_ones_win() {
        let module = wat::parse_str(
            r#"(module
                (memory 1)
                (data (i32.const 10) "abc")
                (data "passive")
                (data (i32.const 30000) "far")
                (data (i32.const 16) "xyz")
                (data (i32.const 11) "B"))"#,
        )
        .unwrap();
        let expected = wat::parse_str(
            r#"(module
                (memory 1)
                (data (i32.const 10) "aBc\00\00\00xyz")
                (data (i32.const 30000) "far"))"#,
        )
        .unwrap();
        assert_eq!(merged(&module).unwrap(), expected);
    }

    #[test]
    fn segments_that_are_used_by_number_stay() {
        let module = wat::parse_str(
            r#"(module
                (memory 1)
                (func (memory.init 0 (i32.const 0) (i32.const 0) (i32.const 1)))
                (data "passive"))"#,
        )
        .unwrap();
        assert_eq!(merged(&module).unwrap(), module);
    }
}
