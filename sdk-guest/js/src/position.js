// Where in the sources an error began. `hookbox build` leaves a table of the bundle's lines behind.

/** `src/hook.ts:12` of the innermost frame that is the author's, if it is known. */
export function position(error) {
  const { files, runs } = globalThis.__hookboxLines ?? { runs: [] };
  for (const [, line] of String(error.stack).matchAll(/:(\d+):\d+\)?$/gm)) {
    // Lines of the bundle, from and to; the file and line where they begin.
    const run = runs.find(([from, to]) => from <= line && line <= to);
    if (run !== undefined) return `${files[run[2]]}:${run[3] + (line - run[0])}`;
  }
  return undefined;
}

/** Where a handler is exported, if it is known: nothing of the author's is on the stack when its output is checked. */
export function handlerPosition(name) {
  return globalThis.__hookboxLines?.handlers?.[name];
}
