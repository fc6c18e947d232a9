// Small drawings: the shape of a day, a part of a whole, the steps of a histogram.
import { micros, short } from "../format";

/** Counts over time as bars; the second and third count of each are drawn over the first. */
export function Spark({ values, label }: { values: (readonly number[] | number)[]; label: string }) {
  const rows = values.map((value) => (typeof value === "number" ? [value] : value));
  const most = Math.max(1, ...rows.map((row) => row[0] ?? 0));
  const width = 120 / Math.max(rows.length, 1);
  const height = (value: number) => (value ? Math.max(1.5, (20 * value) / most) : 0);
  return (
    <svg class="spark" viewBox="0 0 120 20" preserveAspectRatio="none" role="img" aria-label={label}>
      {rows.flatMap((row, index) =>
        row.map((value, kind) =>
          value ? <rect class={`spark-${kind}`} x={index * width} y={20 - height(value)} width={Math.max(width - 0.4, 0.6)} height={height(value)} /> : null,
        ),
      )}
    </svg>
  );
}

/** A part of a whole. */
export function Meter({ part, most, label }: { part: number; most: number; label: string }) {
  const share = most > 0 ? Math.min(1, Math.max(0, part / most)) : 0;
  const kind = share > 0.95 ? "bad" : share > 0.75 ? "warn" : "plain";
  return (
    <svg class={`meter ${kind}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${label}: ${Math.round(share * 100)} %`}>
      <rect class="meter-all" width="100" height="6" rx="3" />
      <rect class="meter-part" width={100 * share} height="6" rx="3" />
    </svg>
  );
}

/** Counts by their upper bound. */
export function Histogram({ steps }: { steps: [number, number][] }) {
  const most = Math.max(1, ...steps.map(([, calls]) => calls));
  return (
    <table class="histogram">
      <caption class="visually-hidden">Calls by their time</caption>
      <tbody>
        {steps.map(([bound, calls]) => (
          <tr key={bound}>
            <th scope="row">≤ {micros(bound)}</th>
            <td class="histogram-bar">
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect width={Math.max(0.5, (100 * calls) / most)} height="8" rx="1" />
              </svg>
            </td>
            <td class="number">{short(calls)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
