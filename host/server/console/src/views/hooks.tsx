// Every hook: what it did, how it fails, what it may do.
import { usePolled } from "../api";
import { ago, count, date, micros, percent, short } from "../format";
import { useKeys } from "../keys";
import { Histogram, Spark } from "../parts/bars";
import { Badge, Fact, Stale, Waiting, Words } from "../parts/basics";
import { link, refine, type Route } from "../route";
import type { Hook, Hooks as Data } from "../types";

const keyOf = (hook: Hook) => `${hook.tenant}/${hook.dialect}${hook.pointer}`;

/** Failing hooks first, then monitored ones, then by their calls. */
const rank = ({ counters, monitored }: Hook) => (counters?.failing ? 2e15 : monitored ? 1e15 : 0) + (counters?.calls ?? 0);

export function Hooks({ route, tenant }: { route: Route; tenant: string }) {
  const { data, error } = usePolled<Data>(`hooks${tenant ? `?tenant=${encodeURIComponent(tenant)}` : ""}`, 3000);
  const opened = route.query.get("h") ?? "";
  const words = (route.query.get("q") ?? "").toLowerCase();
  const close = () => refine({ h: undefined });
  useKeys({ Escape: () => opened && close() });
  const hooks = (data?.hooks ?? [])
    .filter((hook) => !words || `${hook.hook}\n${hook.tenant}\n${hook.events.join()}`.toLowerCase().includes(words))
    .sort((one, other) => rank(other) - rank(one));
  const hook = data?.hooks.find((each) => keyOf(each) === opened);
  return (
    <div class={`split ${opened ? "with-panel" : ""}`}>
      <div class="split-main">
        <div class="now-head">
          <p class="title" aria-hidden="true">Hooks</p>
          <input type="search" aria-label="Search hooks" placeholder="Search hooks" value={route.query.get("q") ?? ""} onInput={(event) => refine({ q: event.currentTarget.value || undefined })} />
          <Stale error={data ? error : null} />
        </div>
        {!data ? <Waiting error={error} /> : <Table hooks={hooks} now={data.now} opened={opened} />}
      </div>
      {opened && data && <aside class="panel" aria-label="The hook that is open">{hook ? <Details hook={hook} now={data.now} onClose={close} /> : <Gone onClose={close} />}</aside>}
    </div>
  );
}

const Gone = ({ onClose }: { onClose: () => void }) => (
  <header class="panel-head">
    <h2>This hook is not configured any more</h2>
    <button type="button" class="button quiet" onClick={onClose} aria-label="Close">✕</button>
  </header>
);

function State({ hook, now }: { hook: Hook; now: number }) {
  const { counters, monitored } = hook;
  if (counters?.failing) return <Badge word={`failing for ${ago(counters.failing.since, now).replace(" ago", "")}`} kind="bad" />;
  if (monitored) return <Badge word="monitored" kind="would" />;
  if (!counters) return <Badge word="not called" kind="quiet" />;
  return <Badge word="enforced" kind="good" />;
}

function Table({ hooks, now, opened }: { hooks: Hook[]; now: number; opened: string }) {
  if (!hooks.length) return <p class="calm">No hook. A tenant's hooks file names them.</p>;
  const labels = ["Hook", "State", "Tenant", "Calls", "Denied", "Failed", "p50", "p99", "Fuel", "24 h"];
  return (
    <div class="table-box" role="region" aria-label="Hooks, table" tabIndex={0}>
      <table class="table">
        <thead><tr>{labels.map((label, index) => <th key={label} scope="col" class={`${index > 2 && index < 9 ? "number" : ""} ${index > 6 ? "extra" : ""}`}>{label}</th>)}</tr></thead>
        <tbody>
          {hooks.map((hook) => {
            const { counters } = hook;
            const key = keyOf(hook);
            return (
              <tr key={key} class={key === opened ? "chosen" : ""}>
                <th scope="row"><a href={link("hooks", { tenant: hashTenant(), h: key })} aria-current={key === opened ? "true" : undefined}>{hook.hook}</a></th>
                <td><State hook={hook} now={now} /></td>
                <td>{hook.tenant}</td>
                <td class="number">{count(counters?.calls ?? 0)}</td>
                <td class="number">{hook.monitored && counters?.denied ? `(${count(counters.denied)})` : count(counters?.denied ?? 0)}</td>
                <td class={`number ${counters?.failed ? "bad" : ""}`}>{count(counters?.failed ?? 0)}</td>
                <td class="number">{micros(counters?.p50)}</td>
                <td class="number extra">{micros(counters?.p99)}</td>
                <td class="number extra">{short(counters?.fuelP50)}</td>
                <td class="shape extra"><Spark values={counters?.day ?? []} label={`Calls of ${hook.hook} over 24 hours`} /></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const hashTenant = () => new URLSearchParams(location.hash.split("?")[1] ?? "").get("tenant") ?? undefined;

function Details({ hook, now, onClose }: { hook: Hook; now: number; onClose: () => void }) {
  const { counters } = hook;
  return (
    <article aria-label={hook.hook}>
      <header class="panel-head">
        <h2>{hook.hook} <State hook={hook} now={now} /></h2>
        <button type="button" class="button quiet" onClick={onClose} aria-label="Close">✕</button>
      </header>
      {counters?.failing && (
        <p class="reason bad">
          Fails since {date(counters.failing.since)}, {count(counters.failing.count)} times. Last: <Words text={`${counters.failing.cause}: ${counters.failing.message}`} />{" "}
          <a href={link(`verdict/${encodeURIComponent(counters.failing.verdict)}`)}>the verdict</a>
        </p>
      )}
      {hook.monitored && counters && (
        <p class="reason would">
          Monitored: would have denied {count(counters.denied)} of {count(counters.calls)} ({percent(counters.denied, counters.calls)})
          {counters.asked ? `, and asked about ${count(counters.asked)}` : ""}
          {counters.failed ? `, and failed ${count(counters.failed)} times` : ""}.
        </p>
      )}
      <div class="actions">
        <a class="button" href={link("stream", { tenant: hook.tenant, hook: hook.hook })}>Its verdicts</a>
        <a class="button" href={link("stream", { tenant: hook.tenant, hook: hook.hook, only: "failed" })}>Failures</a>
      </div>
      <dl class="facts">
        <Fact name="Tenant">{hook.tenant}</Fact>
        <Fact name="Configured at"><code>{hook.pointer}</code> of its hooks for {hook.dialect}</Fact>
        <Fact name="Events">{hook.events.join(", ") || "all that it handles"}{hook.matcher ? <> matching <code>{hook.matcher}</code></> : ""}</Fact>
        <Fact name="Type">{hook.kind}, at most {micros(hook.timeoutMs * 1000)}{hook.fuel ? ` and ${short(hook.fuel)} fuel` : ""}</Fact>
        <Fact name="May decide">{hook.authority.join("; ") || "nothing"}</Fact>
        <Fact name="May reach">{hook.grants.join("; ") || "nothing"}</Fact>
        {hook.digest && <Fact name="Publisher">{hook.publisher ? <code>{hook.publisher}</code> : <span class="dim">unknown: no signature was verified</span>}</Fact>}
        {hook.digest && <Fact name="SHA-256"><code>{hook.digest}</code></Fact>}
        {counters && <Fact name="Counted since">{date(counters.since)}</Fact>}
        {counters?.changed && <Fact name="This component">in use since {date(counters.changed)}</Fact>}
        {counters && <Fact name="Last call">{ago(counters.last, now)}</Fact>}
        {counters?.fuelP99 != null && <Fact name="Fuel">{short(counters.fuelP50)} p50 · {short(counters.fuelP99)} p99</Fact>}
      </dl>
      {counters && Object.keys(counters.causes).length > 0 && <>
        <h3>Failures by cause</h3>
        <dl class="facts">{Object.entries(counters.causes).map(([cause, times]) => <Fact key={cause} name={cause}>{count(times)}</Fact>)}</dl>
      </>}
      {counters && <>
        <h3>Time of a call</h3>
        <Histogram steps={counters.times} />
      </>}
      {counters && counters.examples.length > 0 && <>
        <h3>What it would have stopped</h3>
        <ul class="examples">
          {[...counters.examples].reverse().map((example) => (
            <li key={example.id}>
              <a href={link(`verdict/${encodeURIComponent(example.id)}`)}><Badge word={example.word} kind="would" /> {example.event}{example.tool ? ` · ${example.tool}` : ""}</a>
              <span class="dim"> {ago(example.at, now)}</span>
              {example.reason && <div class="part-text">{example.reason}</div>}
            </li>
          ))}
        </ul>
      </>}
    </article>
  );
}
