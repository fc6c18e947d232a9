// Functions that both steps use.

/** Ends the process with an error message. */
export function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/**
 * The origin of a bundle's lines, as runs of consecutive lines: the first and last line in the bundle, the file, and the
 * first line in the file. `named` returns the name of a source in messages, or nothing for sources to leave out.
 */
export function lineTable({ sources, mappings }, named) {
  const names = sources.map(named);
  const files = [...new Set(names.filter((name) => name !== undefined))];
  const runs = [];
  let [source, line] = [0, 0];
  mappings.split(";").forEach((text, index) => {
    let found;
    for (const segment of text === "" ? [] : text.split(",")) {
      const [, sourceStep = 0, lineStep = 0] = numbersOf(segment);
      source += sourceStep;
      line += lineStep;
      found ??= { file: files.indexOf(names[source]), at: line + 1 };
    }
    if (found === undefined || found.file < 0) return;
    const last = runs.at(-1);
    const follows = last !== undefined && last[1] === index && last[2] === found.file && last[3] + index - last[0] + 1 === found.at;
    if (follows) last[1]++;
    else runs.push([index + 1, index + 1, found.file, found.at]);
  });
  return { files, runs };
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes the Base64 VLQ numbers of a source map segment. */
function numbersOf(segment) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value |= (bits & 31) << shift;
    shift += 5;
    if ((bits & 32) === 0) {
      numbers.push(value & 1 ? -(value >> 1) : value >> 1);
      [value, shift] = [0, 0];
    }
  }
  return numbers;
}

/** A stack trace of the engine, with the author's files and lines. */
export function mapped(stack, { files, runs }) {
  return stack.replace(/componentize-qjs:user\.js:(\d+):\d+/g, (_, line) => {
    const run = runs.find(([first, last]) => first <= line && line <= last);
    return run === undefined ? "@hookbox/guest" : `${files[run[2]]}:${run[3] + (line - run[0])}`;
  });
}
