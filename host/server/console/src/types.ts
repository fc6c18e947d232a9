// The answers of the daemon, as `host/server/src/console` writes them.

export type Flag = "denied" | "failed" | "refused" | "degraded" | "would";

/** A verdict in the list. */
export interface Row {
  id: string;
  at: number;
  tenant: string;
  dialect: string;
  event: string | null;
  tool: string | null;
  verdict: string;
  by?: string | null;
  reason?: string;
  problem?: string;
  wouldBe?: string;
  us?: number;
  fuel?: number;
  hooks?: string[];
  flags: Flag[];
  /** Lower-case text for the search; made here. */
  text?: string;
  /** A line between two daemons; made here. */
  marker?: string;
}

export interface HookPart {
  hook: string;
  pointer: string;
  mode?: "monitor";
  verdict: string;
  timeUs?: number;
  fuel?: number;
  componentDigest?: string;
  publisher?: string | null;
  reason?: string;
  cause?: string;
  message?: string;
  countedAs?: string;
  notes?: { kind: string; text: string }[];
}

export interface VerdictRecord extends Row {
  eventDigest: string;
  configDigest: string;
  hooks: never;
  clause: string;
  decidedBy?: number;
  output?: unknown;
  explain: string;
  shortened?: boolean;
}

export interface Counts {
  decisions: number;
  denied: number;
  asked: number;
  failed: number;
  would: number;
  refused: number;
  queue: number;
  p50: number | null;
  p99: number | null;
  seconds?: number;
}

type Column = (number | null)[];

export interface Columns {
  step: number;
  from: number;
  decisions: Column;
  denied: Column;
  asked: Column;
  failed: Column;
  would: Column;
  refused: Column;
  queue: Column;
  p50: Column;
  p99: Column;
}

export interface Daemon {
  name: string;
  version: string;
  started: number;
  epoch: string;
}

export type Problems = { [name: string]: [number, number] };

export interface TenantNow {
  tenant: string;
  sum: Counts;
  minute: Counts;
  shape: number[];
  waiting: number;
  judging: number;
  problems: Problems;
}

export interface Now {
  now: number;
  window: string;
  daemon: Daemon;
  columns: Columns;
  sum: Counts;
  minute: Counts;
  starts: number[];
  tenants: TenantNow[];
}

export interface Attention {
  now: number;
  all: number;
  list: {
    urgency: "bad" | "warning" | "note";
    kind: string;
    since: number | null;
    text: string;
    tenant?: string;
    hook?: string;
    dialect?: string;
    pointer?: string;
  }[];
}

export interface Example {
  id: string;
  at: number;
  word: string;
  reason: string | null;
  event: string | null;
  tool: string | null;
}

export interface HookCounters {
  since: number;
  calls: number;
  denied: number;
  asked: number;
  failed: number;
  causes: { [cause: string]: number };
  p50: number | null;
  p99: number | null;
  times: [number, number][];
  fuelP50: number | null;
  fuelP99: number | null;
  last: number;
  changed: number | null;
  failing: { since: number; last: number; count: number; cause: string; message: string; verdict: string } | null;
  examples: Example[];
  day: [number, number, number][];
}

export interface Hook {
  tenant: string;
  dialect: string;
  hook: string;
  pointer: string;
  kind: string;
  events: string[];
  matcher: string | null;
  monitored: boolean;
  digest: string | null;
  /** Who signed the component, if the lock says so. */
  publisher?: string | null;
  timeoutMs: number;
  fuel: number | null;
  grants: string[];
  authority: string[];
  counters: HookCounters | null;
}

export interface Hooks {
  now: number;
  hooks: Hook[];
}

interface Rate {
  perSecond: number;
  left: number;
}

export interface Tenant {
  tenant: string;
  standing: "loading" | "serving" | "refused" | "gone";
  error: { text: string; since: number } | null;
  loaded: number | null;
  failClosed: boolean;
  dialects: { dialect: string; hooks: number }[];
  tokens: { hash: string; since: number | null }[];
  quotas: {
    requests: Rate | null;
    fuel: Rate | null;
    concurrency: number;
    queue: number;
    bodyMemoryMiB: number;
    stateKiB: number;
  } | null;
  stateBytes: number | null;
  waiting: number;
  judging: number;
  problems: Problems | null;
}

export interface Tenants {
  now: number;
  tenants: Tenant[];
}

interface Share {
  most: number;
}

interface Collector {
  to: string | null;
  accepted: number;
  failed: number;
  last: number | null;
  error: string | null;
  since: number | null;
}

export interface Health {
  now: number;
  daemon: Daemon;
  engine: string;
  ready: boolean;
  draining: boolean;
  listen?: string[];
  tenants?: number;
  refused?: { tenant: string; text: string; since: number; serves: boolean }[];
  pool?: Share & { running: number };
  components?: { loaded: number; memory: number; cache: number; compiler: number };
  queue?: Share & { waiting: number; judging: number };
  memory?: number | null;
  bodies?: Share & { taken: number };
  connections?: Share & { open: number; madeRoom: number; refused: number };
  store?: { kind: string; error: string | null };
  records?: { to: string | null; required: boolean; lost: number; logLost: number };
  collector?: Collector | null;
  certificate?: { ends: number | null } | null;
  problems?: { [name: string]: number };
  console?: Share & { verdicts: number; bytes: number; streams: number };
}

export interface Me {
  operator: boolean;
  tenants: string[];
  daemon: Daemon;
}
