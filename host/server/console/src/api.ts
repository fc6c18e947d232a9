// Requests to the daemon. The token is in a header, never in a URL, and in this tab alone.
import { useEffect, useRef, useState } from "preact/hooks";

const KEY = "hookbox-token";
let token = sessionStorage.getItem(KEY) ?? "";
let signOut: (reason: string) => void = () => {};

export const hasToken = () => token !== "";

export function setToken(value: string) {
  token = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

/** Sets the function that is called when the daemon rejects the token. */
export const onUnauthorized = (callback: (reason: string) => void) => {
  signOut = callback;
};

export class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Requests a path, with the token. */
export async function request(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/ui/api/${path}`, {
      headers: { ...headers, authorization: `Bearer ${token}` },
      cache: "no-store",
      signal: signal ?? null,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError(0, "the daemon does not respond");
  }
  if (response.ok) return response;
  const problem: { detail?: string } = await response.json().catch(() => ({}));
  if (response.status === 401) signOut("The daemon does not know this token.");
  throw new RequestError(response.status, problem.detail ?? `the daemon responds with ${response.status}`);
}

export interface Polled<T> {
  data: T | null;
  /** The error of the latest request; the data are older then. */
  error: string | null;
}

/** Requests a path periodically while the page is visible. The latest data stay until newer ones arrive. */
export function usePolled<T>(path: string, every: number): Polled<T> {
  const [state, set] = useState<Polled<T>>({ data: null, error: null });
  const current = useRef(path);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    if (current.current !== path) {
      current.current = path;
      set({ data: null, error: null });
    }
    const poll = async () => {
      clearTimeout(timer);
      if (!document.hidden) {
        try {
          const data: T = await (await request(path, {}, stop.signal)).json();
          if (!stop.signal.aborted) set({ data, error: null });
        } catch (error) {
          if (stop.signal.aborted) return;
          set((before) => ({ ...before, error: (error as Error).message }));
        }
      }
      if (!stop.signal.aborted) timer = window.setTimeout(poll, every);
    };
    const onVisible = () => !document.hidden && poll();
    document.addEventListener("visibilitychange", onVisible);
    poll();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [path, every]);
  return state;
}
