// The source position of an error. `hookbox build` adds a table of the bundle's lines.

/** Returns the innermost frame of the author's code, such as `src/hook.ts:12`, if it is known. */
export function position(error) {
  const { files, runs } = globalThis.__hookboxLines ?? { runs: [] };
  for (const [, line] of String(error.stack).matchAll(/:(\d+):\d+\)?$/gm)) {
    // First and last line in the bundle, then the index of the file and its line where the range starts.
    const run = runs.find(([from, to]) => from <= line && line <= to);
    if (run !== undefined) return `${files[run[2]]}:${run[3] + (line - run[0])}`;
  }
  return undefined;
}

/**
 * Returns where a handler is exported, if it is known. No frame of the author is on the stack when the output is
 * checked.
 */
export function handlerPosition(name) {
  return globalThis.__hookboxLines?.handlers?.[name];
}
