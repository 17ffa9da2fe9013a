/** One of the benchmark's parts: what it measures, and the sections of docs/performance.md that it writes. */
export type Part = {
  /** What it is about to do, and how long that takes, in a sentence. */
  readonly says: string;
  readonly measure: (say: Say) => Promise<Measured>;
};

/** Hears how far a part is. */
export type Say = (line: string) => void;

export type Measured = {
  /** For machines: what `--json` prints. */
  readonly figures: unknown;
  /** Markdown by the section's name; see docs/performance.md. */
  readonly sections: Readonly<Record<string, string>>;
  /** Drawings by their file's name in docs/. */
  readonly drawings?: Readonly<Record<string, string>>;
};
