// The first view: is it up, what is stopped and by which hook, what fails, which tenant is slow.
import { usePolled } from "../api";
import { ago, count, micros, percent, rate, short, span } from "../format";
import { Chart } from "../parts/chart";
import { Spark } from "../parts/bars";
import { Empty, Section, Stale, Waiting, Words } from "../parts/basics";
import { link, refine, type Route } from "../route";
import type { Attention, Counts, Now as Numbers, TenantNow } from "../types";

const WINDOWS = [["15m", "15 min"], ["24h", "24 h"], ["7d", "7 days"]] as const;

export function Now({ route, tenant, theme, first }: { route: Route; tenant: string; theme: string; first: string }) {
  const window = route.query.get("window") ?? "15m";
  const scope = tenant ? `&tenant=${encodeURIComponent(tenant)}` : "";
  const { data, error } = usePolled<Numbers>(`now?window=${encodeURIComponent(window)}${scope}`, window === "15m" ? 2000 : 10_000);
  const attention = usePolled<Attention>(`attention?${scope.slice(1)}`, 3000);
  return (
    <div class="now">
      <div class="now-head">
        <p class="title">{tenant || "All tenants"}</p>
        <Stale error={data ? error : null} />
        <div class="segments" role="group" aria-label="Window">
          {WINDOWS.map(([name, label]) => (
            <button key={name} type="button" aria-pressed={window === name} onClick={() => refine({ window: name === "15m" ? undefined : name })}>{label}</button>
          ))}
        </div>
      </div>
      <Tiles data={data} />
      {data && data.sum.decisions === 0 && data.sum.refused === 0 && <Empty tenant={tenant || first} when={since(data)} />}
      <div class="now-grid">
        <div class="charts">{data ? <Charts data={data} theme={theme} /> : <div class="chart-wait"><Waiting error={error} /></div>}</div>
        <Section title="Needs attention" aside={attention.data && <span class="dim tabular">{attention.data.all}</span>}>
          <AttentionList {...attention} />
        </Section>
      </div>
      <Section title="Tenants">{data ? <Tenants data={data} window={window} /> : <Waiting error={error} />}</Section>
    </div>
  );
}

/** In words, the time without a verdict. */
const since = ({ now, daemon, starts, columns }: Numbers) =>
  starts.length > 1 || now - daemon.started > columns.step * columns.decisions.length ? "in this time" : "yet";

/** Entries whose time is that of their beginning; others have that of the last case. */
const LASTING = ["failing", "load", "collector"];

function Tiles({ data }: { data: Numbers | null }) {
  const minute = data?.minute;
  const sum = data?.sum;
  const seconds = minute?.seconds ?? 60;
  const each = (value: (counts: Counts) => string, from = minute) => (from ? value(from) : "–");
  const window = WINDOWS.find(([name]) => name === data?.window)?.[1] ?? "";
  const tiles: [string, string, string, string][] = [
    ["Decisions", each((c) => `${rate(c.decisions, seconds)}/s`), each((c) => `${short(c.decisions)} in ${window}`, sum), ""],
    ["Denied", each((c) => percent(c.denied, c.decisions)), each((c) => `${short(c.denied)} in ${window}`, sum), ""],
    ["Failed", each((c) => percent(c.failed, c.decisions)), each((c) => `${short(c.failed)} in ${window}`, sum), minute?.failed ? "bad" : ""],
    ["Refused", each((c) => `${rate(c.refused, seconds)}/s`), each((c) => `${short(c.refused)} in ${window}`, sum), minute?.refused ? "warn" : ""],
    ["p50 · p99", each((c) => (c.p50 == null ? "–" : `${micros(c.p50)} · ${micros(c.p99)}`)), each((c) => `${micros(c.p99)} p99 in ${window}`, sum), ""],
    ["Queue", each((c) => short(c.queue)), each((c) => `${short(c.queue)} at most in ${window}`, sum), minute?.queue ? "warn" : ""],
  ];
  return (
    <dl class="tiles" aria-label="The last minute">
      {tiles.map(([name, value, below, kind]) => (
        <div key={name} class={`tile ${kind}`}>
          <dt>{name}</dt>
          <dd class="tile-value">{value}</dd>
          <dd class="tile-below">{below}</dd>
        </div>
      ))}
    </dl>
  );
}

function Charts({ data, theme }: { data: Numbers; theme: string }) {
  const { columns, starts } = data;
  const { from, step } = columns;
  const perSecond = (values: (number | null)[]) => values.map((value) => (value === null ? null : value / (step / 1000)));
  const rates = (value: number) => `${short(value)}/s`;
  const common = { from, step, starts, theme };
  return (
    <>
      <Chart {...common} title="Decisions" least={1} format={rates} lines={[{ label: "all", color: "accent", values: perSecond(columns.decisions), fill: true }]} />
      <Chart {...common} title="Time to the verdict" least={1000} format={micros} lines={[
        { label: "p50", color: "accent", values: columns.p50 },
        { label: "p99", color: "warn", values: columns.p99 },
      ]} />
      <Chart {...common} title="Stopped" least={1} format={rates} lines={[
        { label: "denied", color: "bad", values: perSecond(columns.denied), fill: true },
        { label: "asked", color: "warn", values: perSecond(columns.asked) },
        { label: "would differ", color: "would", values: perSecond(columns.would) },
      ]} />
      <Chart {...common} title="Trouble" least={4} format={short} lines={[
        { label: "failed", color: "bad", values: columns.failed },
        { label: "refused", color: "warn", values: columns.refused },
        { label: "queue", color: "accent", values: columns.queue },
      ]} />
    </>
  );
}

/** Where an entry leads. */
function target(entry: Attention["list"][number]): string {
  const { tenant, hook, dialect, pointer, kind } = entry;
  if (hook && pointer) return link("hooks", { tenant, h: `${tenant}/${dialect}${pointer}` });
  if (tenant) return link("tenants", { t: tenant });
  return kind === "store" || kind === "collector" || kind === "lost" || kind === "certificate" ? link("health") : link("now");
}

function AttentionList({ data, error }: { data: Attention | null; error: string | null }) {
  if (!data) return <Waiting error={error} />;
  if (!data.list.length) return <p class="calm">Nothing. Hooks answer, tenants are loaded, queues are empty.</p>;
  return (
    <ul class="attention" tabIndex={0} aria-label="Needs attention">
      {data.list.map((entry, index) => (
        <li key={index}>
          <a href={target(entry)} class={`attention-entry ${entry.urgency}`}>
            <span class={`dot ${entry.urgency}`} aria-hidden="true" />
            <span class="attention-what">
              <b>{entry.hook ?? entry.tenant ?? "daemon"}</b>
              {entry.hook && <span class="dim"> {entry.tenant}</span>}
              <span class="attention-since dim">{entry.since ? (LASTING.includes(entry.kind) ? `for ${span(data.now - entry.since)}` : ago(entry.since, data.now)) : ""}</span>
            </span>
            <span class="attention-text"><span class="visually-hidden">{entry.urgency}: </span><Words text={entry.text} /></span>
          </a>
        </li>
      ))}
    </ul>
  );
}

const SORTED = (one: TenantNow, other: TenantNow) => other.sum.decisions + other.sum.refused - one.sum.decisions - one.sum.refused;

function Tenants({ data, window }: { data: Numbers; window: string }) {
  if (!data.tenants.length) return <p class="calm">No tenant is loaded.</p>;
  const labels = ["Tenant", "Decisions", "Now", "Denied", "Failed", "Refused", "p50", "p99", "Waiting", "Over the window"];
  return (
    <div class="table-box" role="region" aria-label="Tenants, table" tabIndex={0}>
      <table class="table">
        <thead><tr>{labels.map((label, index) => <th key={label} scope="col" class={index && index < 9 ? "number" : ""}>{label}</th>)}</tr></thead>
        <tbody>
          {[...data.tenants].sort(SORTED).map(({ tenant, sum, minute, shape, waiting }) => (
            <tr key={tenant}>
              <th scope="row"><a href={link("now", { tenant, window: window === "15m" ? undefined : window })}>{tenant}</a></th>
              <td class="number">{count(sum.decisions)}</td>
              <td class="number">{rate(minute.decisions, minute.seconds ?? 60)}/s</td>
              <td class="number">{sum.denied ? <a href={link("stream", { tenant, only: "denied" })}>{percent(sum.denied, sum.decisions)}</a> : "0"}</td>
              <td class={`number ${sum.failed ? "bad" : ""}`}>{sum.failed ? <a href={link("stream", { tenant, only: "failed" })}>{percent(sum.failed, sum.decisions)}</a> : "0"}</td>
              <td class={`number ${sum.refused ? "warn" : ""}`}>{sum.refused ? <a href={link("tenants", { t: tenant })}>{count(sum.refused)}</a> : "0"}</td>
              <td class="number">{micros(sum.p50)}</td>
              <td class="number">{micros(sum.p99)}</td>
              <td class={`number ${waiting ? "warn" : ""}`}>{count(waiting)}</td>
              <td class="shape"><Spark values={shape} label={`Decisions of ${tenant} over the window`} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
