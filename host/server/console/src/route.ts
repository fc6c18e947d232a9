// Where the reader is: the view and its filters are in the hash, so that a link has them and no server sees them.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  /** The rest of the path: the id of a verdict. */
  id: string;
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/");
  let id = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch {
    // A link that is cut off names nothing.
  }
  return { view: view || "now", id, query: new URLSearchParams(query) };
}

/** The hash of a view with these filters; empty ones are left out. */
export function link(view: string, query: Record<string, string | undefined> = {}): string {
  const kept = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const text = new URLSearchParams(kept).toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export const go = (hash: string) => {
  location.hash = hash;
};

/** Changes filters of the present view, without an entry in the history. */
export function refine(changes: Record<string, string | undefined>) {
  const { view, id, query } = parse(location.hash);
  for (const [key, value] of Object.entries(changes)) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  history.replaceState(null, "", link(id ? `${view}/${encodeURIComponent(id)}` : view, Object.fromEntries(query)));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => set(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
