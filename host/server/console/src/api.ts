// Questions to the daemon. The token is in a header, never in a URL, and in this tab alone.
import { useEffect, useRef, useState } from "preact/hooks";

const KEY = "hookbox-token";
let token = sessionStorage.getItem(KEY) ?? "";
let leave: (why: string) => void = () => {};

export const hasToken = () => token !== "";

export function setToken(value: string) {
  token = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

/** Calls this when the daemon does not know the token any more. */
export const onLeave = (then: (why: string) => void) => {
  leave = then;
};

export class Failed extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Asks for a path, with the token. */
export async function ask(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`/ui/api/${path}`, {
      headers: { ...headers, authorization: `Bearer ${token}` },
      cache: "no-store",
      signal: signal ?? null,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failed(0, "the daemon does not answer");
  }
  if (answer.ok) return answer;
  const problem: { detail?: string } = await answer.json().catch(() => ({}));
  if (answer.status === 401) leave("The daemon does not know this token.");
  throw new Failed(answer.status, problem.detail ?? `the daemon answers ${answer.status}`);
}

export interface Polled<T> {
  data: T | null;
  /** Why the last question failed; the data are older then. */
  error: string | null;
}

/** Asks again and again while the page is seen. The last answer stays until there is another one. */
export function usePolled<T>(path: string, every: number): Polled<T> {
  const [state, set] = useState<Polled<T>>({ data: null, error: null });
  const present = useRef(path);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    if (present.current !== path) {
      present.current = path;
      set({ data: null, error: null });
    }
    const look = async () => {
      clearTimeout(timer);
      if (!document.hidden) {
        try {
          const data: T = await (await ask(path, {}, stop.signal)).json();
          if (!stop.signal.aborted) set({ data, error: null });
        } catch (error) {
          if (stop.signal.aborted) return;
          set((before) => ({ ...before, error: (error as Error).message }));
        }
      }
      if (!stop.signal.aborted) timer = window.setTimeout(look, every);
    };
    const seen = () => !document.hidden && look();
    document.addEventListener("visibilitychange", seen);
    look();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [path, every]);
  return state;
}
