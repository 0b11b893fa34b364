import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { dayOf, hourOf } from '../parts/format.ts';

type Look = 'area' | 'line' | 'dashed' | 'bars';
type Tone = 'accent' | 'ink' | 'quiet' | 'bad';

export interface Line {
  readonly label: string;
  readonly look: Look;
  readonly tone: Tone;
  /** One a step; none where nothing was measured. */
  readonly values: readonly (number | undefined)[];
}

interface Props {
  /** All that the drawing says, in a sentence. */
  readonly summary: string;
  /** When each step begins, in milliseconds since the epoch. */
  readonly times: readonly number[];
  readonly stepMs: number;
  readonly lines: readonly Line[];
  /** A value on the axis. */
  shown(value: number): string;
  /** Where there are no parts of one. */
  readonly isWhole?: boolean;
  /** A value under the pointer. */
  told(value: number): string;
}

const HEIGHT = 190;
const DAY_MS = 86_400_000;
const DARK = matchMedia('(prefers-color-scheme: dark)');

const bars = uPlot.paths.bars?.({ size: [0.7, 24] });

const WHOLE = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((each) => each * 10 ** power)).flat();

const lonely: uPlot.Series.Points.Filter = ({ data }, at) => {
  const values = data[at] ?? [];
  return [...values.keys()].filter(
    (step) => values[step] != null && values[step - 1] == null && values[step + 1] == null,
  );
};

function drawn({ label, look, tone }: Line, color: (name: string) => string): uPlot.Series {
  const stroke = color(tone);
  return {
    label,
    stroke,
    width: look === 'bars' ? 0 : 2,
    // A line has two ends: a step between two of which nothing is known has none, and is a point.
    points: look === 'bars' ? { show: false } : { show: true, size: 6, fill: stroke, filter: lonely },
    ...(look === 'area' && { fill: color(`${tone}-faint`) }),
    ...(look === 'dashed' && { dash: [5, 4] }),
    ...(look === 'bars' && { fill: stroke, ...(bars && { paths: bars }) }),
  };
}

/** Midnight is told by its day. */
const stamp = (seconds: number, step: number): string =>
  step * 1_000 >= DAY_MS || (seconds * 1_000) % DAY_MS === 0 ? dayOf(seconds * 1_000) : hourOf(seconds * 1_000);

function options(
  element: HTMLElement,
  { lines, stepMs, shown, isWhole }: Props,
  onCursor: (at?: number) => void,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const axis = { stroke: color('quiet'), font: `12px ${style.fontFamily}`, ticks: { show: false } };
  const grid = { stroke: color('line'), width: 1 };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { size: 6 } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: {
      // Half a step of room on both sides, for bars are drawn around their times.
      x: { range: (_chart, first, last) => [first - stepMs / 2_000, last + stepMs / 2_000] },
      y: { range: (_chart, least, most) => [Math.min(0, least ?? 0), (most ?? 0) > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 30,
        values: (_chart, splits, _axis, _space, step) => splits.map((at) => stamp(at, step)),
      },
      {
        ...axis,
        grid,
        size: 60,
        space: 36,
        values: (_chart, splits) => splits.map(shown),
        ...(isWhole && { incrs: WHOLE }),
      },
    ],
    series: [{}, ...lines.map((line) => drawn(line, color))],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
  };
}

/** Lines over time, drawn on a canvas; the legend tells the figures under the pointer. */
export function Chart(props: Props) {
  const { summary, times, stepMs, lines, told } = props;
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const [pointed, setPointed] = useState<number>();
  const [isDark, setDark] = useState(DARK.matches);
  const looks = lines.map(({ label, look, tone }) => `${label} ${look} ${tone}`).join();

  useEffect(() => {
    const follow = (): void => setDark(DARK.matches);
    DARK.addEventListener('change', follow);
    return () => DARK.removeEventListener('change', follow);
  }, []);

  // Made anew for other colours and other lines, not for every figure.
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const plot = new uPlot(options(target, props, setPointed), [[]], target);
    chart.current = plot;
    const resized = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: HEIGHT }));
    resized.observe(target);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [isDark, looks, stepMs]);

  useEffect(() => {
    const figures = lines.map(({ values }) => values.map((value) => value ?? null));
    chart.current?.setData([times.map((at) => at / 1_000), ...figures]);
  }, [times, lines, isDark, looks, stepMs]);

  const at = pointed === undefined ? undefined : times[pointed];
  return (
    <div class="chart">
      <div ref={element} role="img" aria-label={summary} />
      <ul class="legend" aria-hidden="true">
        {lines.map(({ label, look, tone, values }) => {
          const value = pointed === undefined ? undefined : values[pointed];
          return (
            <li key={label}>
              <i class={`${look} ${tone}`} />
              {label}
              {value !== undefined && <b>{told(value)}</b>}
            </li>
          );
        })}
        {at !== undefined && <li class="quiet">{stepMs >= DAY_MS ? dayOf(at) : `${dayOf(at)}, ${hourOf(at)}`}</li>}
      </ul>
    </div>
  );
}
