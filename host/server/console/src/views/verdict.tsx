// One verdict: what decided, each hook's part, the sentence of the specification, the JSON for the client.
import { useEffect, useState } from "preact/hooks";
import { request } from "../api";
import { ago, count, date, micros } from "../format";
import { link } from "../route";
import { Badge, Copy, Fact, Waiting, Words } from "../parts/basics";
import { testCase } from "../testcase";
import type { HookPart, VerdictRecord } from "../types";

type VerdictDetails = Omit<VerdictRecord, "hooks"> & { hooks: HookPart[] };

export function useVerdict(id: string) {
  const [state, set] = useState<{ id: string; verdict: VerdictDetails | null; error: string | null }>({ id, verdict: null, error: null });
  useEffect(() => {
    const stop = new AbortController();
    request(`verdicts/${encodeURIComponent(id)}`, {}, stop.signal)
      .then((response) => response.json())
      .then((verdict: VerdictDetails) => set({ id, verdict, error: null }))
      .catch((error: Error) => stop.signal.aborted || set({ id, verdict: null, error: error.message }));
    return () => stop.abort();
  }, [id]);
  // What is shown is never that of another verdict.
  return state.id === id ? state : { id, verdict: null, error: null };
}

export function Verdict({ id, onClose }: { id: string; onClose?: () => void }) {
  const { verdict, error } = useVerdict(id);
  return (
    <article class="verdict" aria-label="Verdict">
      <header class="panel-head">
        <h2>{verdict ? <><Badge word={verdict.verdict} /> {verdict.event || "no event"}{verdict.tool ? ` · ${verdict.tool}` : ""}</> : "Verdict"}</h2>
        {onClose && <button type="button" class="button quiet" onClick={onClose} aria-label="Close">✕</button>}
      </header>
      {!verdict && (error ? <div class="notice bad" role="alert">{error}</div> : <Waiting error={null} />)}
      {verdict && <Details verdict={verdict} />}
    </article>
  );
}

function Details({ verdict }: { verdict: VerdictDetails }) {
  const decider = verdict.decidedBy === undefined ? undefined : verdict.hooks[verdict.decidedBy];
  const reason = verdict.problem ?? verdict.reason;
  const [source, sentence] = split(verdict.clause);
  return (
    <>
      {reason && <p class={`reason ${verdict.flags.includes("denied") ? "bad" : ""}`}><Words text={reason} /></p>}
      <dl class="facts">
        <Fact name="Decided by">{decider ? <b>{decider.hook}</b> : verdict.problem ? "the daemon: no hook was asked" : "no hook"}</Fact>
        <Fact name="Tenant"><a href={link("stream", { tenant: verdict.tenant })}>{verdict.tenant}</a></Fact>
        <Fact name="Time"><time dateTime={new Date(verdict.at).toISOString()}>{date(verdict.at)}</time> · {ago(verdict.at, Date.now())}</Fact>
        <Fact name="Dialect">{verdict.dialect}</Fact>
        {verdict.wouldBe && <Fact name="If monitored hooks were enforced"><Badge word={verdict.wouldBe} kind="would" /></Fact>}
      </dl>
      <div class="actions">
        <Copy label="Copy link" text={() => `${location.origin}${location.pathname}${link(`verdict/${encodeURIComponent(verdict.id)}`)}`} />
        <Copy label="Copy as test case" text={() => testCase(verdict as unknown as VerdictRecord)} />
        <Copy label="Copy explanation" text={() => verdict.explain} />
      </div>
      <h3>Hooks, in order</h3>
      <ol class="parts">
        {verdict.hooks.map((hook, index) => <Part key={index} hook={hook} decided={index === verdict.decidedBy} />)}
      </ol>
      {verdict.clause && <>
        <h3>Clause</h3>
        <blockquote>{sentence}<cite>{source}</cite></blockquote>
      </>}
      <h3>For the client</h3>
      <pre tabIndex={0} aria-label="JSON for the client">{verdict.output == null ? "nothing" : json(verdict.output)}</pre>
      {verdict.explain && <>
        <h3>Explanation</h3>
        <pre tabIndex={0} class="explain" aria-label="Explanation">{verdict.explain}</pre>
      </>}
      <h3>Event</h3>
      <dl class="facts">
        <Fact name="SHA-256 of the event"><code>{verdict.eventDigest}</code></Fact>
        <Fact name="SHA-256 of the configuration"><code>{verdict.configDigest}</code></Fact>
      </dl>
      {verdict.shortened && <p class="dim">The record was too long: long texts are cut here. `records` has all of it.</p>}
    </>
  );
}

function Part({ hook, decided }: { hook: HookPart; decided: boolean }) {
  const ran = hook.timeUs !== undefined;
  return (
    <li class={decided ? "decided" : ran ? "" : "off"}>
      <div class="part-head">
        <b class="part-name">{hook.hook}</b>
        <Badge word={hook.verdict} kind={ran ? (hook.mode ? "would" : undefined) : "quiet"} />
        {hook.mode && <span class="tag">monitored</span>}
        {decided && <span class="tag strong">decided</span>}
        {ran && <span class="part-cost">{micros(hook.timeUs)}{hook.fuel === undefined ? "" : ` · ${count(hook.fuel)} fuel`}</span>}
      </div>
      {hook.reason && <div class="part-text"><Words text={hook.reason} /></div>}
      {hook.cause && <div class="part-text bad"><Words text={`${hook.cause}: ${hook.message}${hook.countedAs ? `, counted as ${hook.countedAs}` : ""}`} /></div>}
      {hook.notes?.map((note, index) => <div key={index} class="part-text dim">{note.kind}: {note.text}</div>)}
      {hook.publisher && <div class="part-text dim">published by {hook.publisher}</div>}
      <div class="part-text dim mono">{hook.pointer}{hook.componentDigest ? ` · sha256:${hook.componentDigest.slice(0, 12)}…` : ""}</div>
    </li>
  );
}

function split(clause: string): [string, string] {
  const at = clause.indexOf(": ");
  return at < 0 ? ["", clause] : [clause.slice(0, at), clause.slice(at + 2)];
}

const json = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
