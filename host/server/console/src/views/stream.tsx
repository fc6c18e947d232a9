// Verdicts as they come.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Feed } from "../feed";
import { FLAGS, filterOf, isEmpty, matches, suggestions, type Filter } from "../filter";
import { clock, count, micros } from "../format";
import { useKeys } from "../keys";
import { Badge, Empty } from "../parts/basics";
import { Virtual } from "../parts/virtual";
import { go, link, refine, type Route } from "../route";
import type { Row } from "../types";
import { Verdict } from "./verdict";

interface Shown {
  /** Newest first. */
  rows: Row[];
  shifted: number;
}

/** The rows that match, newest first. While it is paused, new rows wait. */
function useRows(feed: Feed, filter: Filter, paused: boolean) {
  const key = JSON.stringify(filter);
  const [shown, set] = useState<Shown>({ rows: [], shifted: 0 });
  const [waiting, setWaiting] = useState(0);
  const [, rerender] = useState(0);
  // Before the next task, so that no row that comes after a pause is shown.
  useLayoutEffect(() => {
    if (paused) return;
    setWaiting(0);
    set({ rows: feed.rows.filter((row) => matches(row, filter)).reverse(), shifted: 0 });
  }, [key, paused, feed]);
  useLayoutEffect(
    () =>
      feed.listen(({ added, removed }) => {
        const found = added.filter((row) => matches(row, filter));
        if (paused) return setWaiting((before) => before + found.length);
        if (!found.length && !removed) return rerender((n) => n + 1);
        set(({ rows }) => {
          const next = found.reverse().concat(rows);
          const oldest = feed.rows[0];
          // What left the feed leaves the list.
          if (removed && oldest) while (next.length && (next[next.length - 1] as Row).at < oldest.at) next.pop();
          return { rows: next, shifted: found.length };
        });
      }),
    [key, paused, feed],
  );
  return { ...shown, waiting };
}

export function Stream({ feed, route, tenant, narrow }: { feed: Feed; route: Route; tenant: string; narrow: boolean }) {
  const filter = useMemo(() => filterOf(route.query), [route.query.toString()]);
  const [paused, setPaused] = useState(false);
  const { rows, shifted, waiting } = useRows(feed, filter, paused);
  const [chosen, choose] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const opened = route.query.get("v") ?? "";
  const index = rows.findIndex((row) => row.id === (chosen || opened));
  const open = (at: number) => {
    const row = rows[at];
    if (!row || row.marker) return;
    choose(row.id);
    refine({ v: row.id });
  };
  const close = () => refine({ v: undefined });
  const move = (by: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index + by))];
    if (!next) return;
    choose(next.id);
    if (opened) refine({ v: next.id });
  };
  useKeys({
    "/": (event) => { event.preventDefault(); search.current?.focus(); },
    j: () => move(1),
    k: () => move(-1),
    p: () => setPaused((before) => !before),
    Enter: (event) => { if (event.target === document.body && index >= 0) open(index); },
    Escape: () => {
      if (document.activeElement === search.current) search.current?.blur();
      else if (opened) close();
    },
  });
  const height = narrow ? 54 : 30;
  const nothing = feed.rows.length === 0;
  return (
    <div class={`stream ${opened ? "with-panel" : ""}`}>
      <div class="stream-main">
        <Bar feed={feed} route={route} filter={filter} search={search} paused={paused} onPause={() => setPaused(!paused)} shown={rows.length} waiting={waiting} />
        {!narrow && <Head />}
        {nothing && feed.status !== "connecting" ? <Empty tenant={tenant} /> : rows.length === 0 ? (
          <div class="notice" role="status">
            {nothing ? "Connecting…" : "No verdict matches. "}
            {!nothing && <button type="button" class="button" onClick={() => go(link("stream"))}>Clear the filters</button>}
          </div>
        ) : (
          <Virtual
            label="Verdicts, newest first"
            rows={rows.length}
            height={height}
            chosen={index}
            shifted={shifted}
            id={(at) => `row-${rows[at]?.id}`}
            kind={(at) => (rows[at]?.marker ? "marker" : rows[at]?.flags.includes("denied") ? "denied" : "")}
            row={(at) => <Cells row={rows[at] as Row} narrow={narrow} />}
            onChoose={(at) => choose(rows[at]?.id ?? "")}
            onOpen={open}
            onScroll={() => {}}
          />
        )}
        <p class="stream-begin">{feed.begin}</p>
      </div>
      {opened && <aside class="panel" aria-label="The verdict that is open"><Verdict id={opened} onClose={close} /></aside>}
    </div>
  );
}

const COLUMNS = ["Time", "Verdict", "Tenant", "Event", "Tool", "Decided by", "Reason", "Took"];
const Head = () => <div class="row-head" aria-hidden="true">{COLUMNS.map((name) => <span key={name} class={`cell-${name.toLowerCase()}`}>{name}</span>)}</div>;

/** The verdict, or that hooks were not asked. */
const outcomeWord = (row: Row) => (row.flags.includes("refused") && !row.flags.includes("denied") ? "refused" : row.verdict);

function Cells({ row, narrow }: { row: Row; narrow: boolean }) {
  if (row.marker) return <span class="marker-text">{clock(row.at)} · {row.marker}</span>;
  const flags = row.flags.filter((flag) => flag !== "denied" && flag !== outcomeWord(row));
  const reason = (
    <span class="cell-reason">
      {flags.map((flag) => <span key={flag} class={`tag ${flag}`}>{flag === "would" ? `would ${row.wouldBe ?? "differ"}` : flag}</span>)}
      {row.problem ?? row.reason ?? ""}
    </span>
  );
  const time = <span class="cell-time">{clock(row.at)}</span>;
  const word = <span class="cell-word"><Badge word={outcomeWord(row)} /></span>;
  if (narrow) {
    return (
      <>
        <span class="line">{word}<b>{row.tool ?? row.event}</b><span class="dim">{row.tenant}</span>{time}</span>
        <span class="line">{row.by ? <b class="dim">{row.by}</b> : row.tool && <span class="dim">{row.event}</span>}{reason}{row.us ? <span class="cell-took">{micros(row.us)}</span> : null}</span>
      </>
    );
  }
  return (
    <>
      {time}{word}<span class="cell-tenant">{row.tenant}</span><span class="cell-event">{row.event}</span><span>{row.tool}</span><span>{row.by ?? ""}</span>{reason}
      <span class="cell-took">{row.us ? micros(row.us) : ""}</span>
    </>
  );
}

interface BarProps {
  feed: Feed;
  route: Route;
  filter: Filter;
  search: { current: HTMLInputElement | null };
  paused: boolean;
  onPause: () => void;
  shown: number;
  waiting: number;
}

function Bar({ feed, route, filter, search, paused, onPause, shown, waiting }: BarProps) {
  const toggle = (flag: string) => {
    const flags = new Set<string>(filter.flags);
    if (!flags.delete(flag)) flags.add(flag);
    refine({ only: [...flags].join(",") || undefined });
  };
  const groups = suggestions(feed.rows);
  const add = (event: Event) => {
    const select = event.currentTarget as HTMLSelectElement;
    const at = select.value.indexOf(":");
    if (at > 0) refine({ [select.value.slice(0, at)]: select.value.slice(at + 1) });
    select.value = "";
  };
  return (
    <div class="bar" role="search" aria-label="Filter verdicts">
      <input
        ref={search}
        type="search"
        aria-label="Search verdicts"
        placeholder="Search verdicts ( / )"
        value={route.query.get("q") ?? ""}
        onInput={(event) => refine({ q: event.currentTarget.value || undefined })}
      />
      <div class="chips" role="group" aria-label="Only these">
        {FLAGS.map(({ flag, label }) => (
          <button key={flag} type="button" class={`chip ${flag}`} aria-pressed={filter.flags.includes(flag)} onClick={() => toggle(flag)}>{label}</button>
        ))}
        {Object.entries(filter.keys).map(([key, value]) => (
          <button key={key} type="button" class="chip on" aria-label={`Remove the filter ${key} ${value}`} onClick={() => refine({ [key]: undefined })}>
            <span class="dim">{key}</span> {value} ✕
          </button>
        ))}
        <select class="chip" aria-label="Add a filter" onChange={add}>
          <option value="">+ Filter</option>
          {groups.map(({ key, values }) => (
            <optgroup key={key} label={key}>
              {values.map((value) => <option key={value} value={`${key}:${value}`}>{value}</option>)}
            </optgroup>
          ))}
        </select>
        {!isEmpty(filter) && <button type="button" class="chip clear" onClick={() => go(link("stream"))}>Clear</button>}
      </div>
      <span class="bar-end">
        <span class="dim tabular">{count(shown)} of {count(feed.rows.length)}</span>
        <button type="button" class="button" aria-pressed={paused} onClick={onPause}>{paused ? `Resume${waiting ? ` (${count(waiting)} new)` : ""}` : "Pause"}</button>
      </span>
    </div>
  );
}
