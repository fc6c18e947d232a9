// Sign-in with a token of an operator, or of a tenant.
import { useState } from "preact/hooks";
import { request, setToken } from "../api";
import type { Me } from "../types";

export function SignIn({ message, onIn }: { message: string; onIn: (me: Me) => void }) {
  const [error, set] = useState(message);
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).elements.namedItem("token") as HTMLInputElement;
    setBusy(true);
    setToken(input.value.trim());
    input.value = "";
    try {
      onIn(await (await request("me")).json());
    } catch (failed) {
      setToken("");
      const { status, message: text } = failed as { status?: number; message: string };
      set(status === 401 ? "The daemon does not know this token." : `Not signed in: ${text}.`);
      setBusy(false);
      input.focus();
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <img src="/ui/icon.svg" alt="" width="36" height="36" />
        <h1>hookbox</h1>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck={false} required autofocus aria-describedby="token-help" />
        <button type="submit" class="button strong" disabled={busy}>{busy ? "Signing in…" : "Sign in"}</button>
        <p id="token-help" class="dim">An operator's token shows every tenant, a tenant's token that tenant. It stays in this tab.</p>
        <p class="bad" role="alert">{error}</p>
      </form>
    </main>
  );
}
