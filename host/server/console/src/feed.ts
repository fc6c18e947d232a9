// The stream of verdicts. It is read by `fetch`, because an `EventSource` cannot send a token in a header.
import { request } from "./api";
import { date } from "./format";
import type { Daemon, Row } from "./types";

const OLDER = "Older verdicts are not kept here.";
/** The maximum number of rows. */
export const MAX_ROWS = 10_000;

export type Status = "connecting" | "live" | "lost";

export interface Change {
  /** Rows that came, oldest first. */
  added: Row[];
  /** Rows at the beginning that went. */
  removed: number;
}

type Listener = (change: Change) => void;

export class Feed {
  /** Oldest first. */
  rows: Row[] = [];
  status: Status = "connecting";
  /** Rows that came since the page was opened. */
  total = 0;
  /** Where the stream begins, in words. */
  begin = "";
  private last = "";
  /** The daemon that sends. */
  daemon: Daemon | null = null;
  private listeners = new Set<Listener>();
  private stop = new AbortController();
  private wait = 500;

  start() {
    void this.run();
  }

  end() {
    this.stop.abort();
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(change: Change) {
    this.listeners.forEach((listener) => listener(change));
  }

  private set(status: Status) {
    if (this.status === status) return;
    this.status = status;
    this.notify({ added: [], removed: 0 });
  }

  private async run() {
    while (!this.stop.signal.aborted) {
      try {
        const headers: Record<string, string> = this.last ? { "last-event-id": this.last } : {};
        const response = await request("stream", headers, this.stop.signal);
        this.set("live");
        this.wait = 500;
        if (response.body) await this.read(response.body.getReader());
      } catch {
        // The next attempt shows if the daemon is back.
      }
      if (this.stop.signal.aborted) return;
      this.set("lost");
      await new Promise((done) => setTimeout(done, this.wait));
      this.wait = Math.min(this.wait * 2, 8000);
    }
  }

  private async read(reader: ReadableStreamDefaultReader<Uint8Array>) {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const messages = rest.split("\n\n");
      rest = messages.pop() ?? "";
      for (const message of messages) this.message(message);
    }
  }

  private message(text: string) {
    let event = "";
    let data = "";
    let id = "";
    for (const line of text.split("\n")) {
      if (line.startsWith("data: ")) data = line.slice(6);
      else if (line.startsWith("event: ")) event = line.slice(7);
      else if (line.startsWith("id: ")) id = line.slice(4);
    }
    if (event === "hello") this.hello(JSON.parse(data));
    if (event === "verdicts") {
      const { lost, verdicts }: { lost: number; verdicts: Row[] } = JSON.parse(data);
      this.last = id;
      const rows = lost ? [marker(`${lost} verdicts came too fast to be shown`), ...verdicts] : verdicts;
      this.add(rows);
    }
  }

  /** Shows where the stream begins, and marks each change of daemon. */
  private hello({ daemon, dropped, now }: { daemon: Daemon; dropped: boolean; now: number }) {
    const before = this.daemon;
    this.daemon = daemon;
    if (before === null) {
      this.begin = dropped ? OLDER : `${daemon.name} started ${date(daemon.started)}. Earlier verdicts are not kept here.`;
      this.notify({ added: [], removed: 0 });
    } else if (before.epoch !== daemon.epoch) {
      this.last = "";
      this.add([marker(before.name === daemon.name ? `${daemon.name} started again` : `now from ${daemon.name}, before from ${before.name}`, now)]);
    }
  }

  private add(rows: Row[]) {
    for (const row of rows) row.text ??= searchText(row);
    this.total += rows.length;
    this.rows = this.rows.concat(rows);
    const removed = Math.max(0, this.rows.length - MAX_ROWS);
    if (removed) {
      this.rows = this.rows.slice(removed);
      this.begin = OLDER;
    }
    this.notify({ added: rows, removed });
  }
}

const marker = (text: string, at = Date.now()): Row => ({
  id: `marker-${at}-${text}`, at, tenant: "", dialect: "", event: null, tool: null, verdict: "", flags: [], marker: text, text: "",
});

const searchText = (row: Row) =>
  [row.tenant, row.event, row.tool, row.verdict, row.by, row.reason, row.problem, row.dialect, ...(row.hooks ?? [])]
    .join("\n").toLowerCase();
