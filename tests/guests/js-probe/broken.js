// Throws on the line that says so.
/** @param {any} value */
export function broken(value) {
  return value.missing.member; // line 4
}
