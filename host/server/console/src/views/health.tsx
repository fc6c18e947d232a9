// The daemon: what it is, how full it is, what does not work.
import type { ComponentChildren } from "preact";
import { usePolled } from "../api";
import { ago, bytes, count, date, plural, span } from "../format";
import { Meter } from "../parts/bars";
import { Badge, Fact, Section, Stale, Waiting } from "../parts/basics";
import { link } from "../route";
import type { Health as Data } from "../types";

const Full = ({ part, most, text, label }: { part: number; most: number; text: string; label: string }) => (
  <span class="metered">{text}<Meter part={part} most={most} label={label} /></span>
);

export function Health() {
  const { data, error } = usePolled<Data>("health", 3000);
  return (
    <div class="health">
      <div class="now-head"><p class="title" aria-hidden="true">Health</p><Stale error={data ? error : null} /></div>
      {!data ? <Waiting error={error} /> : <Details health={data} />}
    </div>
  );
}

const Facts = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <Section title={title}><dl class="facts">{children}</dl></Section>
);

/** The address of the collector, and its answer to the latest export. */
function Collector({ collector, now }: { collector: NonNullable<Data["collector"]>; now: number }) {
  const { to, accepted, failed, last, error, since } = collector;
  const word = error ? "does not accept" : last === null ? "nothing sent yet" : "accepts";
  return (
    <>
      {to} <Badge word={word} kind={error ? "bad" : last === null ? "quiet" : "good"} />
      {last !== null && <div class="part-text dim">last {ago(last, now)}; {count(accepted)} batches accepted, {count(failed)} lost</div>}
      {error && <div class="part-text bad">{error}{since ? `, since ${date(since)}` : ""}</div>}
    </>
  );
}

function Details({ health }: { health: Data }) {
  const { daemon, now, pool, queue, bodies, connections, components, store, records, certificate, refused, problems } = health;
  const state = health.draining ? "draining" : health.ready ? "ready" : "not ready";
  return (
    <div class="cards">
      <Facts title="Daemon">
        <Fact name="State"><Badge word={state} kind={health.ready ? "good" : "warn"} /></Fact>
        <Fact name="Name">{daemon.name}</Fact>
        <Fact name="Version">hookbox {daemon.version}, {health.engine}</Fact>
        <Fact name="Up">{span(now - daemon.started)}, since {date(daemon.started)}</Fact>
        {health.listen && <Fact name="Listens on">{health.listen.join(", ")}</Fact>}
        {health.memory != null && <Fact name="Memory">{bytes(health.memory)} resident</Fact>}
      </Facts>
      {pool && queue && bodies && connections && components && (
        <Facts title="Load">
          <Fact name="Components running"><Full part={pool.running} most={pool.most} text={`${count(pool.running)} of ${count(pool.most)}`} label="Pool" /></Fact>
          <Fact name="Events at once"><Full part={queue.judging} most={queue.most} text={`${count(queue.judging)} of ${count(queue.most)}`} label="Events" /></Fact>
          <Fact name="Events waiting">{count(queue.waiting)}</Fact>
          <Fact name="Bodies"><Full part={bodies.taken} most={bodies.most} text={`${bytes(bodies.taken)} of ${bytes(bodies.most)}`} label="Bodies" /></Fact>
          <Fact name="Connections"><Full part={connections.open} most={connections.most} text={`${count(connections.open)} of ${count(connections.most)}`} label="Connections" /></Fact>
          <Fact name="Idle connections closed">{count(connections.madeRoom)}, to make room; {count(connections.refused)} refused</Fact>
          <Fact name="Components">{count(components.loaded)} loaded; {count(components.compiler)} compiled, {count(components.cache)} from the cache, {count(components.memory)} shared</Fact>
        </Facts>
      )}
      {store && records && (
        <Facts title="Connected to">
          <Fact name="State store">{store.kind} {store.error ? <Badge word="does not respond" kind="bad" /> : <Badge word="responds" kind="good" />}{store.error && <div class="part-text bad">{store.error}</div>}</Fact>
          <Fact name="Records">{records.to ?? "not kept"}{records.required ? ", required" : ""}{records.lost ? <span class="bad"> · {count(records.lost)} lost</span> : ""}</Fact>
          <Fact name="Log">{records.logLost ? <span class="bad">{count(records.logLost)} lines lost</span> : "complete"}</Fact>
          <Fact name="Collector of traces">{health.collector ? <Collector collector={health.collector} now={now} /> : "none"}</Fact>
          <Fact name="Certificate">{certificate ? (certificate.ends ? `valid until ${date(certificate.ends)} (${span(certificate.ends - now)})` : "end unknown") : "none: plain HTTP"}</Fact>
          {health.console && <Fact name="This console">{count(health.console.verdicts)} of {count(health.console.most)} verdicts kept ({bytes(health.console.bytes)}), {plural(health.console.streams, "reader")}</Fact>}
        </Facts>
      )}
      {refused && (
        <Section title="Refused files" aside={<span class="dim tabular">{refused.length}</span>}>
          {refused.length ? refused.map((each) => (
            <div key={each.tenant} class="refused-file">
              <a href={link("tenants", { t: each.tenant })}>{each.tenant}</a> <span class="dim">{ago(each.since, now)}{each.serves ? "; the files before go on" : ""}</span>
              <pre class="aligned" tabIndex={0} aria-label={`Error of ${each.tenant}`}>{each.text}</pre>
            </div>
          )) : <p class="calm">None: every tenant's files are loaded.</p>}
        </Section>
      )}
      {problems && (
        <Facts title="Requests since the start">
          {Object.entries(problems).map(([name, times]) => <Fact key={name} name={name}>{count(times)}</Fact>)}
          {!Object.keys(problems).length && <Fact name="None">yet</Fact>}
        </Facts>
      )}
    </div>
  );
}
