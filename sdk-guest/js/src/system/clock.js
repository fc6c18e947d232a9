export { now, subscribeDuration } from "wasi:clocks/monotonic-clock@0.2.12";
