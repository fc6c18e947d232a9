// structuredClone, for the kinds of values that hooks use.

globalThis.structuredClone = (value) => clone(value, new Map());

function clone(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") throw new TypeError("a function cannot be cloned");
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (copy) => {
    seen.set(value, copy);
    return copy;
  };
  if (value instanceof Date) return new Date(value);
  if (value instanceof RegExp) return new RegExp(value);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) return new value.constructor(value);
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, item] of value) copy.set(clone(key, seen), clone(item, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const item of value) copy.add(clone(item, seen));
    return copy;
  }
  const copy = keep(Array.isArray(value) ? [] : value instanceof Error ? new Error(value.message) : {});
  for (const [key, item] of Object.entries(value)) copy[key] = clone(item, seen);
  return copy;
}
