// Small parts that every view uses.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** How a word of a verdict is coloured. */
export function tone(word: string): string {
  if (/^(deny|stop|failed|skip|respond)$/.test(word)) return "bad";
  if (/^(ask|defer|refused)$/.test(word)) return "warn";
  if (word === "allow") return "good";
  if (word === "nothing") return "none";
  return "quiet";
}

export const Badge = ({ word, kind }: { word: string; kind?: string }) => <span class={`badge ${kind ?? tone(word)}`}>{word}</span>;

/** Data that are not there yet, or cannot be had. */
export function Waiting({ error }: { error: string | null }) {
  if (error) return <div class="notice bad" role="alert">Not loaded: {error}. Trying again.</div>;
  return <div class="notice" role="status">Loading…</div>;
}

/** Data that are older than they should be. */
export const Stale = ({ error }: { error: string | null }) =>
  error ? <div class="notice warn" role="status">Not current: {error}. Trying again.</div> : null;

export function Copy({ text, label }: { text: string | (() => string); label: string }) {
  const [done, set] = useState("");
  const copy = async () => {
    const value = typeof text === "string" ? text : text();
    try {
      await navigator.clipboard.writeText(value);
      set("Copied");
    } catch {
      // Without a secure context there is no clipboard; the browser's own copy command is there still.
      const area = document.createElement("textarea");
      area.value = value;
      document.body.append(area);
      area.select();
      set(document.execCommand("copy") ? "Copied" : "Not copied");
      area.remove();
    }
    setTimeout(() => set(""), 1500);
  };
  return (
    <button type="button" class="button" onClick={copy}>
      {label}
      <span class="visually-hidden" role="status">{done}</span>
      {done && <span aria-hidden="true"> ✓</span>}
    </button>
  );
}

export function Section({ title, aside, children }: { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Words that have a hyphen or a slash inside, as names and causes have. Longer ones may break. */
const NAMES = /(\S*\w[-/]\w\S{0,40})/;

/** A text in which no line breaks inside a name. */
export const Words = ({ text }: { text: string }) => (
  <>{text.split(NAMES).map((part, index) => (index % 2 && part.length <= 40 ? <span key={index} class="nowrap">{part}</span> : part))}</>
);

/** A name and its value. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** The first thing to do where nothing has happened yet. */
export function Empty({ tenant, when = "yet" }: { tenant: string; when?: string }) {
  const event = JSON.stringify({ hook_event_name: "PreToolUse", session_id: "try", tool_name: "Bash", tool_input: { command: "rm -rf /" } });
  const line = `curl -H "Authorization: Bearer $TOKEN" --data '${event}' ${location.origin}/v1/${tenant}/claude`;
  return (
    <div class="empty">
      <p>No verdict {when}. To try one, put a token of the tenant into <code>TOKEN</code> and run:</p>
      <pre tabIndex={0}>{line}</pre>
      <Copy text={line} label="Copy" />
    </div>
  );
}
