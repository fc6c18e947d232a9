// The frame around the views: the viewer, the tenant and the connection to the daemon.
import { useEffect, useMemo, useState } from "preact/hooks";
import { hasToken, onUnauthorized, request, setToken } from "./api";
import { Feed } from "./feed";
import { useKeys } from "./keys";
import { Help } from "./parts/help";
import { go, link, refine, useRoute, type Route } from "./route";
import { useTheme } from "./theme";
import type { Me } from "./types";
import { Health } from "./views/health";
import { Hooks } from "./views/hooks";
import { Now } from "./views/now";
import { SignIn } from "./views/signin";
import { Stream } from "./views/stream";
import { Tenants } from "./views/tenants";
import { Verdict } from "./views/verdict";

const VIEWS = [["now", "Now"], ["stream", "Stream"], ["hooks", "Hooks"], ["tenants", "Tenants"], ["health", "Health"]] as const;
const STATUS = { live: "Live", connecting: "Connecting", lost: "Not connected" } as const;

export function App() {
  const [me, setMe] = useState<Me | null>(null);
  const [message, setMessage] = useState("");
  const [checking, setChecking] = useState(hasToken());
  const signOut = (reason = "") => {
    setToken("");
    setMe(null);
    setChecking(false);
    setMessage(reason);
  };
  useEffect(() => {
    onUnauthorized(signOut);
    if (!hasToken()) return;
    let timer = 0;
    const load = () => request("me").then((response) => response.json()).then(setMe).catch((error: { status?: number }) => {
      // The daemon may be starting: the token is kept, and checked again.
      if (error.status !== 401) timer = window.setTimeout(load, 1000);
    });
    void load();
    return () => clearTimeout(timer);
  }, []);
  if (me) return <Frame me={me} onOut={() => signOut()} />;
  if (checking) return <main class="sign-in"><div class="notice" role="status">Connecting to the daemon…</div></main>;
  return <SignIn key={message} message={message} onIn={setMe} />;
}

/** The width under which rows have two lines. */
const NARROW = "(max-width: 760px)";

function useNarrow() {
  const query = useMemo(() => matchMedia(NARROW), []);
  const [narrow, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, [query]);
  return narrow;
}

function useFeed(me: Me) {
  const feed = useMemo(() => new Feed(), []);
  const [status, set] = useState(feed.status);
  const [name, setName] = useState(me.daemon.name);
  useEffect(() => {
    const stop = feed.listen(() => {
      set(feed.status);
      // Behind one address there may be several daemons.
      if (feed.daemon) setName(feed.daemon.name);
    });
    feed.start();
    return () => {
      stop();
      feed.end();
    };
  }, [feed]);
  return { feed, status, name };
}

function useTenants(me: Me) {
  const [names, set] = useState<string[]>(me.tenants);
  useEffect(() => {
    if (!me.operator) return;
    const load = () => request("tenants").then((response) => response.json())
      .then(({ tenants }: { tenants: { tenant: string }[] }) => set(tenants.map(({ tenant }) => tenant))).catch(() => {});
    void load();
    const timer = setInterval(load, 10_000);
    return () => clearInterval(timer);
  }, [me]);
  return names;
}

function Frame({ me, onOut }: { me: Me; onOut: () => void }) {
  const route = useRoute();
  const { theme, next, colors } = useTheme();
  const { feed, status, name } = useFeed(me);
  const narrow = useNarrow();
  const names = useTenants(me);
  const [help, setHelp] = useState(false);
  const tenant = route.query.get("tenant") ?? (me.operator ? "" : me.tenants[0] ?? "");
  const title = VIEWS.find(([name]) => name === route.view)?.[1] ?? "Verdict";
  useEffect(() => { document.title = `${title} · ${name} · hookbox`; }, [title, name]);
  const scoped = (view: string) => link(view, { tenant: route.query.get("tenant") ?? undefined });
  useKeys({
    ...Object.fromEntries(VIEWS.map(([name], index) => [String(index + 1), () => go(scoped(name))])),
    t: next,
    "?": () => setHelp(true),
  });
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>Skip to the content</a>
      <header class="top">
        <div class="brand">
          <img src="/ui/icon.svg" alt="" width="20" height="20" />
          <span class="daemon" title={name}>{name}</span>
          <span class={`status ${status}`} role="status"><i class="dot" aria-hidden="true" />{STATUS[status]}</span>
        </div>
        <nav aria-label="Views">
          {VIEWS.map(([name, label]) => (
            <a key={name} href={scoped(name)} aria-current={route.view === name ? "page" : undefined}>{label}</a>
          ))}
        </nav>
        <div class="tools">
          {(me.operator || names.length > 1) && (
            <select aria-label="Tenant" value={tenant} onChange={(event) => refine({ tenant: event.currentTarget.value || undefined })}>
              {me.operator && <option value="">All tenants</option>}
              {(tenant && !names.includes(tenant) ? [tenant, ...names] : names).map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          )}
          <button type="button" class="button quiet" onClick={() => setHelp(true)} aria-label="Keys">?</button>
          <button type="button" class="button quiet" onClick={next} aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`}>{theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}</button>
          <button type="button" class="button quiet" onClick={onOut}>Sign out</button>
        </div>
      </header>
      <main id="content" tabIndex={-1} class={`view-${route.view}`}>
        <h1 class="visually-hidden">{title}</h1>
        <View route={route} me={me} tenant={tenant} feed={feed} narrow={narrow} colors={colors} first={tenant || names[0] || "TENANT"} />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

interface ViewProps {
  route: Route;
  me: Me;
  tenant: string;
  feed: Feed;
  narrow: boolean;
  colors: string;
  first: string;
}

function View({ route, tenant, feed, narrow, colors, first }: ViewProps) {
  switch (route.view) {
    case "now":
      return <Now route={route} tenant={tenant} theme={colors} first={first} />;
    case "stream":
      return <Stream feed={feed} route={route} tenant={first} narrow={narrow} />;
    case "hooks":
      return <Hooks route={route} tenant={tenant} />;
    case "tenants":
      return <Tenants route={route} tenant={tenant} />;
    case "health":
      return <Health />;
    case "verdict":
      return <div class="alone"><Verdict id={route.id} /></div>;
    default:
      return <div class="notice"><p>There is no such view.</p><a href={link("now")}>Now</a></div>;
  }
}
