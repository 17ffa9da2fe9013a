import { type Chance, chanceOf } from "../../strict/chance.ts";
import { type StrictDynamoDb, strictDynamoDb } from "../../strict/dynamodb.ts";
import type { StrictSettings } from "../../strict/settings.ts";
import { forwardTo } from "../../strict/wire.ts";
import { advance, SPEED_UP } from "./clock.ts";
import { runs } from "./effects.ts";

/** What one message of a queue meets on its way. */
export type Journey = "once" | "twice" | "later" | "again_later";

/** AWS as one seed has it behave, in one process with the code under test. Whoever is not part of a run goes past it. */
export type StrictAws = {
  readonly dynamodb: StrictDynamoDb;
  readonly throttlesSecrets: () => boolean;
  /** The messages in the order in which they come. */
  readonly ordered: <Message>(messages: readonly Message[]) => readonly Message[];
  readonly journey: () => Journey;
  /** How often it did what the emulators would not have done. */
  readonly interventions: () => number;
  /** From now on nothing happens by chance. */
  readonly calm: () => void;
  /** Lets the time go by for which indexes and weak reads may be behind. */
  readonly passLag: () => void;
  readonly close: () => void;
};

export const strictAws = (dynamodb: string, settings: StrictSettings, seed: number): StrictAws => {
  const { forward, close } = forwardTo(dynamodb);
  // In the runs of our code every wait is shorter, and so are the holds that they wait for.
  const wait = (delayMs: number) => runs.exit(() => new Promise<void>((wake) => setTimeout(wake, delayMs)));
  const time = { now: () => Date.now(), sleep: wait, speedUp: SPEED_UP };
  const layer = strictDynamoDb({ settings, seed, forward, time });
  // A sequence of its own: how many messages there are does not shift what happens to calls.
  const chance = chanceOf(seed + 1);
  let active = settings;
  let others = 0;
  const counted = <Value>(value: Value): Value => {
    others += 1;
    return value;
  };
  return {
    dynamodb: layer,
    throttlesSecrets: () => chance.happens(active.secretsThrottling) && counted(true),
    ordered: (messages) => (active.queues.reordered ? chance.shuffled(messages) : messages),
    journey: () => journeyOf(chance, active),
    interventions: () => Object.values(layer.counts).reduce((total, count) => total + count, others),
    calm: () => {
      layer.calm();
      active = { ...active, queues: { duplicates: 0, late: 0, reordered: false }, secretsThrottling: 0 };
    },
    passLag: () => advance(settings.lagMaxMs),
    close,
  };
};

const journeyOf = (chance: Chance, { queues: { duplicates, late } }: StrictSettings): Journey => {
  if (chance.happens(late)) return "later";
  if (!chance.happens(duplicates)) return "once";
  return chance.oneOf(["twice", "again_later"] as const) ?? "once";
};
