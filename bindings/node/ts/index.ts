/**
 * Run AI agent hooks as sandboxed WebAssembly components, in this process.
 *
 *     const runtime = await Runtime.open();
 *     const hooks = await runtime.load("hooks.json");
 *     const response = await hooks.decide(event);
 *
 * @packageDocumentation
 */
export { HookboxError, type Code } from "./errors";
export { Response } from "./response";
export { HookSet, Runtime, type Source } from "./runtime";
export type {
  Authority,
  Ceiling,
  DecideOptions,
  Event,
  Finding,
  Hook,
  HookReport,
  LoadOptions,
  Mode,
  Note,
  Policy,
  Report,
  RuntimeOptions,
} from "./types";
