// The keys, and the switch that turns them off.
import { useEffect, useRef, useState } from "preact/hooks";
import { setShortcuts, shortcutsOn } from "../keys";

const KEYS: [string, string][] = [
  ["1 – 5", "Now, Stream, Hooks, Tenants, Health"],
  ["j / k, ↓ / ↑", "next, previous verdict"],
  ["Enter", "open the verdict"],
  ["Esc", "close it"],
  ["/", "search"],
  ["p", "pause and resume the stream"],
  ["t", "dark, light, system"],
  ["?", "this list"],
];

export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [on, set] = useState(shortcutsOn());
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <header class="panel-head">
        <h2 id="help-title">Keys</h2>
        <button type="button" class="button quiet" onClick={() => dialog.current?.close()} aria-label="Close">✕</button>
      </header>
      <dl class="facts keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys} class="fact"><dt><kbd>{keys}</kbd></dt><dd>{what}</dd></div>
        ))}
      </dl>
      <label class="switch">
        <input type="checkbox" checked={on} onChange={(event) => { setShortcuts(event.currentTarget.checked); set(event.currentTarget.checked); }} />
        Single-key shortcuts
      </label>
    </dialog>
  );
}
