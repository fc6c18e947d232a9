// Every tenant: what it may use and does use, and what is wrong with its files.
import { usePolled } from "../api";
import { ago, bytes, count, date, short } from "../format";
import { useKeys } from "../keys";
import { Meter } from "../parts/bars";
import { Badge, Copy, Fact, Stale, Waiting } from "../parts/basics";
import { link, refine, type Route } from "../route";
import type { Problems, Tenant, Tenants as Data } from "../types";

const RANK = { refused: 0, gone: 1, loading: 2, serving: 3 };
const KIND = { refused: "bad", gone: "warn", loading: "quiet", serving: "good" } as const;
const refused = (problems: Problems | null) => Object.values(problems ?? {}).reduce((sum, [times]) => sum + times, 0);

export function Tenants({ route, tenant }: { route: Route; tenant: string }) {
  const { data, error } = usePolled<Data>(`tenants${tenant ? `?tenant=${encodeURIComponent(tenant)}` : ""}`, 3000);
  const opened = route.query.get("t") ?? "";
  const close = () => refine({ t: undefined });
  useKeys({ Escape: () => opened && close() });
  const tenants = [...(data?.tenants ?? [])].sort(
    (one, other) => Number(!!other.error) - Number(!!one.error) || RANK[one.standing] - RANK[other.standing] || refused(other.problems) - refused(one.problems),
  );
  const found = tenants.find((each) => each.tenant === opened);
  return (
    <div class={`split ${found ? "with-panel" : ""}`}>
      <div class="split-main">
        <div class="now-head"><p class="title" aria-hidden="true">Tenants</p><Stale error={data ? error : null} /></div>
        {!data ? <Waiting error={error} /> : tenants.length ? <Table tenants={tenants} now={data.now} opened={opened} /> : (
          <p class="calm">No tenant. Put a file into the folder that <code>tenants</code> in serve.json names.</p>
        )}
      </div>
      {found && data && <aside class="panel" aria-label="The tenant that is open"><Details tenant={found} now={data.now} onClose={close} /></aside>}
    </div>
  );
}

function Table({ tenants, now, opened }: { tenants: Tenant[]; now: number; opened: string }) {
  const labels = ["Tenant", "State", "Hooks", "Requests", "Fuel", "Stored", "Waiting", "Refused", "Loaded"];
  return (
    <div class="table-box" role="region" aria-label="Tenants, table" tabIndex={0}>
      <table class="table">
        <thead><tr>{labels.map((label, index) => <th key={label} scope="col" class={[2, 6, 7].includes(index) ? "number" : ""}>{label}</th>)}</tr></thead>
        <tbody>
          {tenants.map((tenant) => {
            const { quotas } = tenant;
            const stored = (quotas?.stateKiB ?? 0) * 1024;
            return (
              <tr key={tenant.tenant} class={tenant.tenant === opened ? "chosen" : ""}>
                <th scope="row"><a href={link("tenants", { t: tenant.tenant })}>{tenant.tenant}</a></th>
                <td><Standing tenant={tenant} /></td>
                <td class="number">{count(tenant.dialects.reduce((sum, { hooks }) => sum + hooks, 0))}</td>
                <td>{quotas?.requests ? <Used rate={quotas.requests} what="requests" /> : <span class="dim">no bound</span>}</td>
                <td>{quotas?.fuel ? <Used rate={quotas.fuel} what="fuel" /> : <span class="dim">no bound</span>}</td>
                <td>{tenant.stateBytes == null || !quotas ? "–" : <span class="metered">{bytes(tenant.stateBytes)}<Meter part={tenant.stateBytes} most={stored} label="State" /></span>}</td>
                <td class={`number ${tenant.waiting ? "warn" : ""}`}>{count(tenant.waiting)}</td>
                <td class={`number ${refused(tenant.problems) ? "warn" : ""}`}>{count(refused(tenant.problems))}</td>
                <td class="nowrap">{tenant.loaded ? ago(tenant.loaded, now) : "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Standing({ tenant }: { tenant: Tenant }) {
  return (
    <>
      <Badge word={tenant.standing} kind={KIND[tenant.standing]} />
      {tenant.error && tenant.standing === "serving" && <span class="tag failed">new files refused</span>}
    </>
  );
}

/** A rate that fills up each second: what of it is used now. */
const Used = ({ rate, what }: { rate: { perSecond: number; left: number }; what: string }) => (
  <span class="metered">
    {short(rate.perSecond)}/s
    <Meter part={rate.perSecond - rate.left} most={Math.max(rate.perSecond, 1)} label={`Used of ${what}`} />
  </span>
);

function Details({ tenant, now, onClose }: { tenant: Tenant; now: number; onClose: () => void }) {
  const { quotas, error, problems } = tenant;
  return (
    <article aria-label={tenant.tenant}>
      <header class="panel-head">
        <h2>{tenant.tenant} <Standing tenant={tenant} /></h2>
        <button type="button" class="button quiet" onClick={onClose} aria-label="Close">✕</button>
      </header>
      {error && <>
        <p class="reason bad">
          Its files cannot be used{tenant.standing === "serving" ? "; those before them go on" : ""}. Since {date(error.since)}.
        </p>
        <pre class="aligned" tabIndex={0} aria-label="Error">{error.text}</pre>
      </>}
      <div class="actions">
        <a class="button" href={link("now", { tenant: tenant.tenant })}>Numbers</a>
        <a class="button" href={link("stream", { tenant: tenant.tenant })}>Verdicts</a>
        <a class="button" href={link("hooks", { tenant: tenant.tenant })}>Hooks</a>
        {error && <Copy text={error.text} label="Copy error" />}
      </div>
      <dl class="facts">
        <Fact name="Hooks">{tenant.dialects.map(({ dialect, hooks }) => `${count(hooks)} for ${dialect}`).join(", ") || "none loaded"}</Fact>
        <Fact name="Failures">{tenant.failClosed ? "block (failClosed)" : "as each hook's policy says"}</Fact>
        <Fact name="Loaded">{tenant.loaded ? `${date(tenant.loaded)}, ${ago(tenant.loaded, now)}` : "never"}</Fact>
        <Fact name="At once">{quotas ? `${count(tenant.judging)} of ${count(quotas.concurrency)}, ${count(tenant.waiting)} of ${count(quotas.queue)} wait` : "–"}</Fact>
        <Fact name="Requests">{quotas?.requests ? `${short(quotas.requests.perSecond)}/s, ${short(Math.max(0, quotas.requests.left))} left now` : "no bound"}</Fact>
        <Fact name="Fuel">{quotas?.fuel ? `${short(quotas.fuel.perSecond)}/s, ${quotas.fuel.left < 0 ? `${short(-quotas.fuel.left)} in debt` : `${short(quotas.fuel.left)} left now`}` : "no bound"}</Fact>
        <Fact name="State">{tenant.stateBytes == null || !quotas ? "not counted" : `${bytes(tenant.stateBytes)} of ${bytes(quotas.stateKiB * 1024)}`}</Fact>
        <Fact name="Bodies">{quotas ? `at most ${quotas.bodyMemoryMiB} MiB` : "–"}</Fact>
      </dl>
      {problems && Object.keys(problems).length > 0 && <>
        <h3>Refused since the start</h3>
        <dl class="facts">
          {Object.entries(problems).map(([name, [times, last]]) => <Fact key={name} name={name}>{count(times)}, last {ago(last, now)}</Fact>)}
        </dl>
      </>}
      <h3>Tokens</h3>
      <dl class="facts">
        {tenant.tokens.map(({ hash, since }) => <Fact key={hash} name={`${hash}…`}>{since ? `known for ${ago(since, now).replace(" ago", "")}` : "new"}</Fact>)}
      </dl>
    </article>
  );
}
