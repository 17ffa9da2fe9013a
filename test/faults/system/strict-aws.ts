import { type Chance, chanceOf } from "../../strict/chance.ts";
import { type StrictDynamoDb, strictDynamoDb } from "../../strict/dynamodb.ts";
import type { StrictSettings } from "../../strict/settings.ts";
import { type Forward, forwardTo } from "../../strict/wire.ts";
import { advance, now, outside, pass } from "./clock.ts";

/** How one message of a queue is delivered. */
export type MessageDelivery = "once" | "twice" | "later" | "again_later";

/** AWS as one seed makes it behave, in simulated time. */
export type StrictAws = {
  readonly dynamodb: StrictDynamoDb;
  readonly throttlesSecrets: () => boolean;
  /** The messages in their order of delivery. */
  readonly ordered: <Message>(messages: readonly Message[]) => readonly Message[];
  readonly messageDelivery: () => MessageDelivery;
  /** How often it did what the emulators never do. */
  readonly interventions: () => number;
  /** From now on nothing happens by chance. */
  readonly calm: () => void;
  /** Advances the clock by the longest lag of indexes and weak reads. */
  readonly passLag: () => void;
  readonly close: () => void;
};

export const strictAws = (dynamodb: string, settings: StrictSettings, seed: number): StrictAws => {
  const { forward: send, close } = forwardTo(dynamodb);
  const forward: Forward = (operation, body) => outside(() => send(operation, body));
  const layer = strictDynamoDb({ settings, seed, forward, time: { now, sleep: pass } });
  // A separate sequence, so that the number of messages does not change what happens to calls.
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
    messageDelivery: () => messageDeliveryOf(chance, active),
    interventions: () => Object.values(layer.counts).reduce((total, count) => total + count, others),
    calm: () => {
      layer.calm();
      active = { ...active, queues: { duplicates: 0, late: 0, reordered: false }, secretsThrottling: 0 };
    },
    passLag: () => advance(settings.lagMaxMs),
    close,
  };
};

const messageDeliveryOf = (chance: Chance, { queues: { duplicates, late } }: StrictSettings): MessageDelivery => {
  if (chance.happens(late)) return "later";
  if (!chance.happens(duplicates)) return "once";
  return chance.oneOf(["twice", "again_later"] as const) ?? "once";
};
