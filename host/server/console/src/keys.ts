// Single-key shortcuts. They can be turned off: a reader by voice or with a switch types keys by accident.
import { useEffect } from "preact/hooks";

const KEY = "hookbox-shortcuts";

export const shortcutsOn = () => localStorage.getItem(KEY) !== "off";
export const setShortcuts = (on: boolean) => localStorage.setItem(KEY, on ? "on" : "off");

const writes = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));

/** Calls the handler of a key, unless the reader writes somewhere. */
export function useKeys(handlers: Record<string, (event: KeyboardEvent) => void>) {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const always = event.key === "Escape";
      if (!always && (!shortcutsOn() || writes(event.target))) return;
      if (document.querySelector("dialog[open]")) return;
      const handler = handlers[event.key];
      if (handler) handler(event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}
