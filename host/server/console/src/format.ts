// Numbers and times as people read them.

const integer = new Intl.NumberFormat("en");

export const count = (value: number | null | undefined) => (value == null ? "–" : integer.format(value));

/** A count with its noun: 1 reader, 2 readers. */
export const plural = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** 1234567 as 1.2 M. */
export function short(value: number | null | undefined): string {
  if (value == null) return "–";
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (value >= size) return `${digits(value / size)} ${unit}`;
  }
  return digits(value);
}

const digits = (value: number) => (value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));

/** Events per second. */
export const rate = (events: number, seconds: number) => digits(events / Math.max(seconds, 1));

export const percent = (part: number, all: number) => {
  if (!all) return "–";
  const value = (100 * part) / all;
  return part && value < 0.1 ? "<0.1%" : `${digits(value)}%`;
};

/** Microseconds. */
export function micros(value: number | null | undefined): string {
  if (value == null) return "–";
  if (value < 1000) return `${Math.round(value)} µs`;
  if (value < 1e6) return `${digits(value / 1000)} ms`;
  return `${digits(value / 1e6)} s`;
}

export function bytes(value: number | null | undefined): string {
  if (value == null) return "–";
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const) {
    if (value >= size) return `${digits(value / size)} ${unit}`;
  }
  return `${value} B`;
}

const two = (value: number) => String(value).padStart(2, "0");

/** The time of day. */
export function clock(at: number): string {
  const time = new Date(at);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** Day and time. */
export function date(at: number): string {
  const time = new Date(at);
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock(at)}`;
}

/** 3 min, 2 h, 5 d. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

export const ago = (at: number, now: number) => `${span(now - at)} ago`;
