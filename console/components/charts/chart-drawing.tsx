import { type PointerEvent, useLayoutEffect, useRef, useState } from "react";
import styles from "./chart.module.css";
import { labelledIndexes, placeOn, roundMarks, runsOf } from "./chart-geometry.ts";

export type ChartProps = {
  /** What it shows, for screen readers: `Balance at the end of each day`. */
  readonly label: string;
  /** The heading of the first column: `Day`. */
  readonly xHeader: string;
  /** One line, or one colour of the bars, for each. */
  readonly series: readonly string[];
  /** In order of time. A value is missing if it is null. */
  readonly points: readonly { readonly x: string; readonly values: readonly (number | null)[] }[];
  /** `bars` are stacked. */
  readonly kind: "line" | "bars";
  /** A value in the table and beside the pointer. */
  readonly valueText: (value: number) => string;
  /** A value at the axis, by default as `valueText`. */
  readonly axisText?: (value: number) => string;
  /** The marks of the axis, from its beginning to its end; `log` spaces them as powers. */
  readonly axis?: { readonly marks: readonly number[]; readonly scale: "linear" | "log" };
  readonly emptyText: string;
};

const HEIGHT = 256;
const TOP = 10;
const BOTTOM = 26;
const RIGHT = 12;
/** About the width of a character of the axes, and the room between two labels. */
const CHARACTER = 7.5;
const LABEL_GAP = 28;
const BAR_SHARE = 0.8;
const BAR_WIDTH_MAX = 64;
const colours = ["var(--chart-1)", "var(--chart-2)", "var(--chart-3)", "var(--chart-4)", "var(--chart-5)"];
/** Lines differ without their colours too. */
const dashes = ["", "6 3", "2 3", "8 3 2 3", "12 4"];
const colourOf = (index: number): string => colours[index % colours.length] ?? "currentColor";
const dashOf = (index: number): string => dashes[index % dashes.length] ?? "";

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);

/** The picture of a Chart. The table below it has the same values for those who do not see it. */
export const ChartDrawing = (props: ChartProps) => {
  const { series, points, kind } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<number>();
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  const area = areaOf(props, width);
  const point = (event: PointerEvent) => {
    const left = frame.current?.getBoundingClientRect().left ?? 0;
    const index = Math.floor((event.clientX - left - area.left) / area.band);
    setPointed(index >= 0 && index < points.length ? index : undefined);
  };
  return (
    <>
      <div
        ref={frame}
        className={styles.drawing}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            <Axes {...props} area={area} />
            {pointed !== undefined && (
              <rect
                className={styles.pointed}
                x={area.left + pointed * area.band}
                y={TOP}
                width={area.band}
                height={area.height}
              />
            )}
            {kind === "line" ? <Lines {...props} area={area} /> : <Bars {...props} area={area} />}
          </svg>
        )}
        {pointed !== undefined && <Values {...props} index={pointed} isLeft={area.x(pointed) > width / 2} />}
      </div>
      {series.length > 1 && <Legend series={series} kind={kind} />}
    </>
  );
};

/** Where things are in the picture, in pixels. */
type Area = {
  readonly left: number;
  readonly height: number;
  /** The width that each point has. */
  readonly band: number;
  readonly marks: readonly number[];
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
};
type PartProps = ChartProps & { readonly area: Area };

const areaOf = ({ points, kind, axis, valueText, axisText = valueText }: ChartProps, width: number): Area => {
  const values = points.flatMap((each) =>
    kind === "bars" ? [sum(each.values)] : each.values.filter((value) => value !== null),
  );
  const marks = axis?.marks ?? roundMarks(values);
  const left = Math.max(...marks.map((mark) => axisText(mark).length)) * CHARACTER + 10;
  const height = HEIGHT - TOP - BOTTOM;
  const band = Math.max(0, width - left - RIGHT) / Math.max(1, points.length);
  const place = placeOn(marks, axis?.scale ?? "linear");
  return {
    ...{ left, height, band, marks },
    x: (index) => left + (index + 0.5) * band,
    y: (value) => TOP + height * (1 - place(value)),
  };
};

const Axes = ({ points, valueText, axisText = valueText, area }: PartProps) => {
  const right = area.left + points.length * area.band;
  const labelWidth = Math.max(...points.map(({ x }) => x.length)) * CHARACTER + LABEL_GAP;
  return (
    <g className={styles.axes}>
      {area.marks.map((mark) => (
        <g key={mark}>
          <line x1={area.left} x2={right} y1={area.y(mark)} y2={area.y(mark)} />
          <text x={area.left - 8} y={area.y(mark)} textAnchor="end" dominantBaseline="middle">
            {axisText(mark)}
          </text>
        </g>
      ))}
      {labelledIndexes(points.length, area.band, labelWidth).map((index) => {
        const label = points[index]?.x ?? "";
        const isLast = isAtEnd(points.length, index, area);
        // The first label would leave the picture on its left.
        const x = isLast ? area.x(index) : Math.max(area.x(index), (label.length * CHARACTER) / 2);
        return (
          <text key={label} x={x} y={HEIGHT - 6} textAnchor={isLast ? "end" : "middle"}>
            {label}
          </text>
        );
      })}
    </g>
  );
};

/** The last label would leave the picture if it stood in the middle of a narrow band. */
const isAtEnd = (count: number, index: number, { band }: Area): boolean => index === count - 1 && band < 4 * LABEL_GAP;

const Lines = ({ series, points, area }: PartProps) =>
  series.map((name, at) => {
    const runs = runsOf(points.map(({ values }) => values[at] ?? null));
    const path = (run: (typeof runs)[number]) =>
      run.map(({ index, value }) => `${area.x(index)} ${area.y(value)}`).join("L");
    const bottom = TOP + area.height;
    return (
      <g key={name} stroke={colourOf(at)} fill={colourOf(at)}>
        {runs.map((run) => (
          <g key={run[0]?.index}>
            {series.length === 1 && (
              <path
                className={styles.filled}
                d={`M${area.x(run[0]?.index ?? 0)} ${bottom}L${path(run)}L${area.x(run.at(-1)?.index ?? 0)} ${bottom}`}
              />
            )}
            <path d={`M${path(run)}`} fill="none" strokeWidth={2} strokeDasharray={dashOf(at)} />
            {/* A value without neighbours has no line. */}
            {(series.length > 1 || run.length === 1) &&
              run.map(({ index, value }) => (
                <circle key={index} cx={area.x(index)} cy={area.y(value)} r={2.5} stroke="none" />
              ))}
          </g>
        ))}
      </g>
    );
  });

const Bars = ({ series, points, area }: PartProps) => {
  const width = Math.min(area.band * BAR_SHARE, BAR_WIDTH_MAX);
  return points.map(({ x, values }, index) => (
    <g key={x}>
      {series.map((name, at) => {
        const below = sum(values.slice(0, at));
        const value = values[at] ?? 0;
        return (
          <rect
            key={name}
            x={area.x(index) - width / 2}
            width={width}
            y={area.y(below + value)}
            height={Math.max(0, area.y(below) - area.y(below + value))}
            fill={colourOf(at)}
          />
        );
      })}
    </g>
  ));
};

/** The values of one point, beside the pointer. */
const Values = ({
  series,
  points,
  valueText,
  index,
  isLeft,
}: ChartProps & { readonly index: number; readonly isLeft: boolean }) => (
  <div className={styles.tooltip} data-side={isLeft ? "left" : "right"}>
    <strong>{points[index]?.x}</strong>
    <dl>
      {series.map((name, at) => {
        const value = points[index]?.values[at] ?? null;
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === null ? "–" : valueText(value)}</dd>
          </div>
        );
      })}
    </dl>
  </div>
);

const Legend = ({ series, kind }: Pick<ChartProps, "series" | "kind">) => (
  <ul className={styles.legend}>
    {series.map((name, at) => (
      <li key={name}>
        <svg width={24} height={12} aria-hidden="true">
          {kind === "line" ? (
            <line x1={0} x2={24} y1={6} y2={6} stroke={colourOf(at)} strokeWidth={2} strokeDasharray={dashOf(at)} />
          ) : (
            <rect width={12} height={12} x={6} fill={colourOf(at)} />
          )}
        </svg>
        {name}
      </li>
    ))}
  </ul>
);
