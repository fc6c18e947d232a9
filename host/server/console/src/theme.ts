// Dark, light, or as the system has it.
import { useEffect, useState } from "preact/hooks";

const KEY = "hookbox-theme";
const THEMES = ["system", "dark", "light"] as const;
export type Theme = (typeof THEMES)[number];

const kept = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";

function apply(theme: Theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

apply(kept());

/** The theme, the next one, and a word that changes whenever colours do. */
export function useTheme(): { theme: Theme; next: () => void; colors: string } {
  const [theme, set] = useState(kept);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const [system, setSystem] = useState(dark.matches);
  useEffect(() => {
    const changed = () => setSystem(dark.matches);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);
  const next = () => {
    const other = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
    localStorage.setItem(KEY, other);
    apply(other);
    set(other);
  };
  return { theme, next, colors: theme === "system" ? `system-${system}` : theme };
}
