/** A part of the benchmark with the sections of docs/performance.md that it writes. */
export type Part = {
  /** What it does and how long that takes. */
  readonly description: string;
  readonly measure: (report: Report) => Promise<Measured>;
};

/** Called with the progress of a part. */
export type Report = (line: string) => void;

export type Measured = {
  /** Markdown by the name of the section in docs/performance.md. */
  readonly sections: Readonly<Record<string, string>>;
  /** SVG by the file name in docs/. */
  readonly drawings?: Readonly<Record<string, string>>;
};
