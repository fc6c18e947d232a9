import type { Response } from "./response";

/** What the model reads in place of a call, from an SDK that can neither ask a user nor rewrite. */
export function refusal(response: Response): string {
  const reason = response.undelivered ?? "denied by a hook";
  if (response.blocks) return reason;
  if (response.outcome === "ask") return `this call needs a person's approval, which cannot be given here: ${reason}`;
  return "a hook rewrites this call, which cannot be done here";
}
