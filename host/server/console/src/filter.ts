// Which verdicts are shown.
import type { Flag, Row } from "./types";

export const FLAGS: { flag: Flag; label: string }[] = [
  { flag: "denied", label: "Denied" },
  { flag: "failed", label: "Failed" },
  { flag: "refused", label: "Refused" },
  { flag: "degraded", label: "Degraded" },
  { flag: "would", label: "Would differ" },
];

export const KEYS = ["tenant", "event", "tool", "hook", "dialect", "verdict"] as const;
export type Key = (typeof KEYS)[number];

export interface Filter {
  flags: Flag[];
  keys: Partial<Record<Key, string>>;
  words: string[];
}

export function filterOf(query: URLSearchParams): Filter {
  const flags = (query.get("only") ?? "").split(",").filter((flag): flag is Flag => FLAGS.some((known) => known.flag === flag));
  const keys: Filter["keys"] = {};
  for (const key of KEYS) {
    const value = query.get(key);
    if (value) keys[key] = value;
  }
  return { flags, keys, words: (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean) };
}

export const isEmpty = ({ flags, keys, words }: Filter) => !flags.length && !words.length && !Object.keys(keys).length;

/** The values of a row under a key. */
export function valuesOf(row: Row, key: Key): string[] {
  if (key === "hook") return row.hooks ?? [];
  const value = row[key];
  return value ? [value] : [];
}

export function matches(row: Row, { flags, keys, words }: Filter): boolean {
  if (row.marker) return true;
  if (flags.length && !flags.some((flag) => row.flags.includes(flag))) return false;
  for (const key of KEYS) {
    const wanted = keys[key];
    if (wanted !== undefined && !valuesOf(row, key).includes(wanted)) return false;
  }
  return words.every((word) => (row.text ?? "").includes(word));
}

/** Values of each key among the rows, the most frequent first. */
export function suggestions(rows: Row[]): { key: Key; values: string[] }[] {
  return KEYS.map((key) => {
    const counts = new Map<string, number>();
    for (const row of rows) {
      for (const value of valuesOf(row, key)) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const values = [...counts].sort((one, other) => other[1] - one[1]).slice(0, 30).map(([value]) => value);
    return { key, values };
  }).filter(({ values }) => values.length);
}
