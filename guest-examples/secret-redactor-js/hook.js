// Removes secrets from tool outputs before the model reads them: AWS and GitHub keys, private keys, `SECRET_KEY=…`.

const SECRET = new RegExp(
  [
    /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])/,
    /(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}/,
    // Up to its end mark, or up to the end of the text if the mark is missing.
    /(?<![A-Za-z0-9])-----BEGIN .{0,20}?PRIVATE KEY-----(?:[^]*?-----END [^]*?PRIVATE KEY-----|[^]*$)/,
    // The value alone, quoted or not.
    /(?<=SECRET(?:_ACCESS)?_KEY=["'])[^"'\n]+/,
    /(?<=SECRET(?:_ACCESS)?_KEY=)[^\s"';&]+/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** @type {import("@hookbox/guest").OnPostToolUse} */
export function onPostToolUse(_call, output) {
  let found = 0;
  const clean = redact(output.value, () => {
    found++;
    return "***";
  });
  if (found === 0) return;
  return { updatedOutput: clean, context: `Secrets in the output that were replaced by ***: ${found}` };
}

/**
 * Returns the value with every secret in its strings replaced by the result of `mask`.
 * @param {any} value
 * @param {() => string} mask
 * @returns {any}
 */
function redact(value, mask) {
  if (typeof value === "string") return value.replace(SECRET, mask);
  if (Array.isArray(value)) return value.map((item) => redact(item, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redact(item, mask)]));
}
