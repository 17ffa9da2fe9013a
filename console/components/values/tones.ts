import type { IconName } from "../page/icon.tsx";

/** What something means for the person: never shown by colour alone. */
export type Tone = "good" | "bad" | "attention" | "running" | "neutral";

export const toneIcons: Readonly<Record<Tone, IconName>> = {
  good: "check",
  bad: "cross",
  attention: "warning",
  running: "clock",
  neutral: "dot",
};
