// A chart over time, drawn by uPlot. Gaps are times when the daemon did not run.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock, date } from "../format";

export interface Line {
  label: string;
  /** The name of a colour in app.css. */
  color: string;
  values: (number | null)[];
  fill?: boolean;
}

export interface ChartProps {
  title: string;
  /** Milliseconds of the first point, and between two. */
  from: number;
  step: number;
  lines: Line[];
  format: (value: number) => string;
  /** The top of the scale, at least. */
  least: number;
  /** Times at which the daemon started. */
  starts: number[];
  theme: string;
}

/** Points without a neighbour, which a line would not show. */
function isolated(self: uPlot, index: number): number[] {
  const values = self.data[index] ?? [];
  const found: number[] = [];
  for (let at = 0; at < values.length; at++) {
    if (values[at] != null && values[at - 1] == null && values[at + 1] == null) found.push(at);
  }
  return found;
}

/** A colour of app.css as a canvas takes it. */
function color(name: string, opacity = 1): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g) ?? [];
  probe.remove();
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

export function Chart({ title, from, step, least, lines, format, starts, theme }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const length = lines[0]?.values.length ?? 0;
  const times = Array.from({ length }, (_, index) => (from + index * step) / 1000);
  const data = [times, ...lines.map((line) => line.values)] as uPlot.AlignedData;
  const names = lines.map((line) => `${line.label}:${line.color}`).join();
  const marks = useRef(starts);
  marks.current = starts;
  const shown = useRef(format);
  shown.current = format;

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const axis = { stroke: color("dim"), grid: { stroke: color("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const created = new uPlot(
      {
        width: element.clientWidth || 300,
        height: element.clientHeight || 156,
        legend: { show: false },
        padding: [8, 16, 0, 0],
        cursor: { sync: { key: "now" }, points: { size: 5 }, drag: { x: false, y: false }, y: false },
        scales: { x: { time: true }, y: { range: (_self, _low, most) => [0, Math.max(most * 1.1, least)] } },
        axes: [
          { ...axis, size: 24, space: 70, values: (_self, ticks) => ticks.map((tick) => tickLabel(tick, step)) },
          { ...axis, size: 58, space: 34, values: (_self, ticks) => ticks.map((tick) => shown.current(tick)) },
        ],
        series: [{}, ...lines.map((line) => ({
          label: line.label, stroke: color(line.color), width: 1.5, points: { show: true, size: 4, filter: isolated },
          ...(line.fill ? { fill: color(line.color, 0.14) } : {}),
        }))],
        hooks: {
          setCursor: [(self) => setAt(self.cursor.idx ?? null)],
          draw: [(self) => drawStarts(self, marks.current)],
        },
      },
      data,
      element,
    );
    plot.current = created;
    const watch = new ResizeObserver(() => created.setSize({ width: element.clientWidth || 300, height: element.clientHeight || 156 }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [names, theme, step]);

  useEffect(() => plot.current?.setData(data), [from, step, lines]);

  const index = at ?? length - 1;
  const valueText = (line: Line) => {
    const value = line.values[index];
    return value == null ? "–" : format(value);
  };
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-at" aria-hidden="true">{at === null ? "now" : date(from + index * step).slice(5, 16)}</span>
        <span class="chart-values" aria-hidden="true">
          {lines.map((line) => (
            <span key={line.label}>
              <i class={`dot ${line.color}`} />
              {line.label} <b>{valueText(line)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={container} class="plot" role="img" aria-label={`${title}: ${lines.map((line) => `${line.label} ${valueText(line)}`).join(", ")}`} />
    </figure>
  );
}

const tickLabel = (seconds: number, step: number) => {
  const at = seconds * 1000;
  return step >= 3_600_000 ? date(at).slice(5, 10) : clock(at).slice(0, step >= 60_000 ? 5 : 8);
};

/** A line where the daemon started. */
function drawStarts(self: uPlot, starts: number[]) {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.strokeStyle = color("would");
  ctx.setLineDash([4, 4]);
  for (const start of starts) {
    const x = Math.round(self.valToPos(start / 1000, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
