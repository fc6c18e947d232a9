// A list of many rows, of which only those in sight are in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows beyond the edges that are drawn as well. */
const OVERSCAN = 8;

export interface VirtualProps {
  label: string;
  rows: number;
  /** Pixels of a row. */
  height: number;
  /** The row that is chosen; -1: none. */
  chosen: number;
  /** Rows that came before the first one since the last time. */
  shifted: number;
  row: (index: number) => ComponentChildren;
  id: (index: number) => string;
  kind: (index: number) => string;
  onChoose: (index: number) => void;
  onOpen: (index: number) => void;
  onScroll: (atTop: boolean) => void;
}

export function Virtual({ label, rows, height, chosen, shifted, row, id, kind, onChoose, onOpen, onScroll }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setView((before) => ({ ...before, height: element.clientHeight }));
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => watch.disconnect();
  }, []);

  // The reader keeps what is read while rows come above it.
  useLayoutEffect(() => {
    const element = box.current;
    if (element && shifted && element.scrollTop > 0) element.scrollTop += shifted * height;
  }, [shifted, rows]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element || chosen < 0) return;
    const top = chosen * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight) element.scrollTop = top + height - element.clientHeight;
  }, [chosen >= 0 ? id(chosen) : "", height]);

  const page = Math.max(1, Math.floor(view.height / height) - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const to: Record<string, number> = {
      ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: rows - 1,
    };
    const next = to[event.key];
    if (event.key === "Enter" && chosen >= 0) onOpen(chosen);
    else if (next === undefined || !rows) return;
    else onChoose(Math.min(rows - 1, Math.max(0, next)));
    event.preventDefault();
  };
  const first = Math.max(0, Math.floor(view.top / height) - OVERSCAN);
  const last = Math.min(rows, Math.ceil((view.top + view.height) / height) + OVERSCAN);
  const visible = [];
  for (let index = first; index < last; index++) {
    visible.push(
      <div
        key={id(index)}
        id={id(index)}
        role="option"
        aria-selected={index === chosen}
        aria-posinset={index + 1}
        aria-setsize={rows}
        class={`row ${kind(index)}${index === chosen ? " chosen" : ""}`}
        style={{ top: `${index * height}px`, height: `${height}px` }}
        onClick={() => onOpen(index)}
      >
        {row(index)}
      </div>,
    );
  }
  const onScrolled = (event: Event) => {
    const top = (event.currentTarget as HTMLElement).scrollTop;
    setView((before) => ({ ...before, top }));
    onScroll(top < height);
  };
  const isVisible = chosen >= first && chosen < last;
  return (
    <div
      ref={box}
      class="virtual"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      {...(isVisible ? { "aria-activedescendant": id(chosen) } : {})}
      onScroll={onScrolled}
      onKeyDown={onKeyDown}
    >
      <div class="virtual-all" role="presentation" style={{ height: `${rows * height}px` }}>
        {visible}
      </div>
    </div>
  );
}
