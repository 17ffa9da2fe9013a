import fc from "fast-check";
import { expect } from "vitest";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { createKey, revokeKey } from "../../../shared/access/accounts.ts";
import { type Permission, permissionSchema, routes } from "../../../shared/contract/routes.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import { recordEntry } from "../../../shared/ledger/ledger-entry.ts";
import { koboFromNaira } from "../../../shared/platform/money.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { disableEndpoint, enableEndpoint, rotateWebhookSecret } from "../../../shared/webhooks/endpoint.ts";
import { advance } from "../world/clock.ts";
import { faults } from "../world/effects.ts";
import {
  balanceOf,
  checkEnds,
  type Entry,
  purchaseEnds,
  type Reaction,
  reactions,
  type Search,
  searches,
} from "./book.ts";
import { askFor, type Wish } from "./orders.ts";
import {
  type Actor,
  adoptEnds,
  beforeRequest,
  callUndisturbed,
  codeOf,
  type Disturbance,
  disturbed,
  giveUntilEnded,
  orderOf,
  type Play,
} from "./play.ts";

type Step = fc.AsyncCommand<object, Play>;

const step = (name: string, run: (play: Play) => Promise<void>): Step => ({
  check: () => true,
  run: (_model, play) => run(play),
  toString: () => name,
});

/** A step of one of the two accounts. */
const stepOf = <Choice>(
  name: string,
  choices: fc.Arbitrary<Choice>,
  run: (play: Play, actor: Actor, choice: Choice) => Promise<void>,
): fc.Arbitrary<Step> =>
  fc
    .tuple(fc.constantFrom(0, 1), choices)
    .map(([who, choice]) =>
      step(`${name} of ${who} ${JSON.stringify(choice)}`, (play) => run(play, play.actors[who === 0 ? 0 : 1], choice)),
    );

const disturbance: fc.Arbitrary<Disturbance> = fc.record({
  at: fc.integer({ min: 1, max: 9 }),
  fault: fc.constantFrom(...faults),
});
const maybeDisturbed = fc.option(disturbance, { nil: undefined, freq: 2 });
const mode = fc.constantFrom<Mode>("live", "live", "test");
const reference = fc.integer({ min: 1, max: 12 }).map((number) => `order-${number}`);

/** Most of what is asked for is had. */
const reaction = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Reaction>("delivers") },
  {
    weight: 7,
    arbitrary: fc.constantFrom<Reaction>(
      "cannotDeliver",
      "endsWell",
      "endsBadly",
      "keepsOpen",
      "isPoor",
      "isDown",
      "doesNotAnswer",
    ),
  },
);
const search = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Search>("found") },
  { weight: 5, arbitrary: fc.constantFrom<Search>("unknown", "refused", "isDown", "isPoor", "doesNotAnswer") },
);

const copies = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, 3) });
/** One that is disturbed comes alone: an error to one of several says nothing about the others. */
const manner = fc.oneof(
  { weight: 3, arbitrary: fc.record({ copies, disturbance: fc.constant(undefined) }) },
  { weight: 1, arbitrary: fc.record({ copies: fc.constant(1), disturbance }) },
);
const asked = { mode, reference, manner };

/** The sandbox reports by itself what ends later. */
const dueIn = (of: Mode, what: Reaction): Wish["due"] => {
  if (of === "live") return [];
  return what === "endsWell" ? ["success"] : what === "endsBadly" ? ["failed"] : [];
};

const DATA_NAIRA = 500;
const buyData = stepOf("data", fc.record({ ...asked, reaction }), (play, actor, choice) => {
  const wish: Wish = {
    route: routes.buyData,
    mode: choice.mode,
    reference: choice.reference,
    body: { network_id: 1, plan_id: 101, phone_number: reactions[choice.reaction] },
    isCheck: false,
    kobo: DATA_NAIRA * 100,
    ends: purchaseEnds(choice.mode, choice.reaction),
    due: dueIn(choice.mode, choice.reaction),
  };
  return askFor(play, actor, wish, choice.manner);
});

const naira = fc.constantFrom(50, 100.55, 250, 4_000);
const buyAirtime = stepOf("airtime", fc.record({ ...asked, reaction, naira }), (play, actor, choice) => {
  const wish: Wish = {
    route: routes.buyAirtime,
    mode: choice.mode,
    reference: choice.reference,
    body: { network: "mtn", amount: choice.naira, phone_number: reactions[choice.reaction] },
    isCheck: false,
    kobo: koboFromNaira(choice.naira),
    ends: purchaseEnds(choice.mode, choice.reaction),
    due: dueIn(choice.mode, choice.reaction),
  };
  return askFor(play, actor, wish, choice.manner);
});

const NIN_NAIRA = 150;
const verify = stepOf("check", fc.record({ ...asked, search }), (play, actor, choice) => {
  const wish: Wish = {
    route: routes.verifyNin,
    mode: choice.mode,
    reference: choice.reference,
    body: { nin: searches[choice.search], is_consent: true },
    isCheck: true,
    kobo: NIN_NAIRA * 100,
    ends: checkEnds(choice.mode, choice.search),
    due: [],
  };
  return askFor(play, actor, wish, choice.manner);
});

/** Bodies that are wrong, and the code that says so. */
const wrongBodies = [
  [{ network_id: 1, plan_id: "101", phone_number: reactions.delivers }, "validation_failed"],
  [{ network_id: 1, plan_id: 101 }, "missing_parameter"],
  [{ network_id: 1, plan_id: 101, phone_number: "+2348031234567" }, "validation_failed"],
  [{ network_id: 1, plan_id: 999_999, phone_number: reactions.delivers }, "plan_unavailable"],
  [[], "invalid_json"],
] as const;
const wrongBody = stepOf(
  "wrong",
  fc.record({ mode, body: fc.constantFrom(...wrongBodies) }),
  async (play, actor, choice) => {
    beforeRequest(play);
    const [body, code] = choice.body;
    const answer = await callUndisturbed(play, routes.buyData, actor.keys[choice.mode], body);
    if (answer !== undefined) expect(codeOf(answer)).toBe(code);
  },
);

const funding = fc.record({
  id: fc.integer({ min: 1, max: 9 }),
  naira: fc.constantFrom(-3_000, -20, 100, 1_000, 2_500),
  disturbance: maybeDisturbed,
});
/** The same number is always the same entry, as with an operator who is not sure and tries again. */
const moveMoney = stepOf("entry", funding, async (play, actor, choice) => {
  const { world, accountId } = actor.stage;
  const kind = choice.naira < 0 ? "adjustment" : "funding";
  const id = `${kind}-${choice.id}`;
  const amountKobo = choice.naira * 100;
  const entry = {
    kind,
    account_id: accountId,
    entry_id: `${id}-${accountId}`,
    amount_kobo: amountKobo,
    why: "for the test",
  } as const;
  const give = () => world.run(() => recordEntry(world.ledger, entry));
  const isKnown = actor.book.moved.has(id);
  const reaches = balanceOf(actor.book) + amountKobo >= 0;
  await disturbed(play, choice.disturbance, give);
  const ending = await giveUntilEnded(play, give);
  const kinds = isKnown || reaches ? ["recorded", "already_recorded"] : ["insufficient_balance"];
  expect(ending.kind === "returned" && kinds).toContain(ending.kind === "returned" && ending.result.kind);
  if (!isKnown && reaches) actor.book.moved.set(id, amountKobo);
});

const which = fc.nat({ max: 30 });
const report = stepOf(
  "event",
  fc.record({
    which,
    status: fc.constantFrom("success", "failed"),
    copies: fc.constantFrom(1, 1, 2),
    disturbance: maybeDisturbed,
  }),
  async (play, actor, choice) => {
    const { world } = play;
    const live = [...actor.book.entries.values()].filter((entry) => entry.mode === "live" && !entry.isCheck);
    const entry = live[choice.which % Math.max(1, live.length)];
    if (entry === undefined) return;
    const transaction = await readTransaction(world.ledger, entry.pk);
    const order = transaction && orderOf(play, transaction);
    if (transaction === undefined || order === undefined) return;
    const isNamed = transaction.upstream_reference !== undefined;
    world.upstream.settle(order, choice.status);
    const isEnded = entry.status !== "processing";
    // An upstream may contradict itself once we have heard the end; before that it tells the truth.
    const told = isEnded ? choice.status : order.status === "failed" ? "failed" : "success";
    if (!isEnded && (isNamed || told === "success")) entry.reported.add(told);
    for (let copy = 0; copy < choice.copies; copy += 1) {
      await disturbed(play, choice.disturbance, () => world.report(order, told));
    }
  },
);

const unknownEvent = stepOf(
  "unknown event",
  fc.constantFrom("success", "failed"),
  async ({ world }, _actor, status) => {
    const stranger = {
      path: "/vtu",
      type: "data",
      reference: null,
      mode: "live",
      keyUsed: "",
      networkName: "MTN",
    } as const;
    const order = {
      ...stranger,
      upstreamReference: `STRANGER_${Math.random()}`,
      amountKobo: 77_700,
      status: "success",
      phoneNumber: "09012345678",
      body: {},
      at: new Date().toISOString(),
    } as const;
    await world.report(order, status);
  },
);

const resolve = stepOf("resolve", fc.record({ which, disturbance: maybeDisturbed }), async (play, actor, choice) => {
  const open = [...actor.book.entries.values()].filter(
    (entry) => entry.status === "processing" && entry.mode === "live",
  );
  const entry = open[choice.which % Math.max(1, open.length)];
  const transaction = entry && (await readTransaction(play.world.ledger, entry.pk));
  const order = transaction && orderOf(play, transaction);
  if (entry === undefined || order === undefined) return;
  if (transaction?.status !== "processing" || transaction.upstream_reference === undefined) return;
  play.world.upstream.settle(order, "success");
  const status = order.status === "failed" ? "failed" : "success";
  entry.reported.add(status);
  const decision = { by: "operator", why: "as the upstream's books say" };
  const give = () => play.world.run(() => resolveTransaction(play.world.ledger, transaction, status, decision));
  await disturbed(play, choice.disturbance, give);
  const ending = await giveUntilEnded(play, give);
  if (ending.kind === "threw") expect(ending.error).toBeInstanceOf(OperatorError);
  await adoptEnds(play, actor);
});

const adoptAll = async (play: Play): Promise<void> => {
  for (const actor of play.actors) await adoptEnds(play, actor);
};

const pump = fc.tuple(maybeDisturbed, fc.constantFrom("in_turn", "at_once")).map(([choice, manner]) =>
  step(`pump ${manner} ${JSON.stringify(choice)}`, async (play) => {
    await disturbed(play, choice, () => play.world.pump.once(manner));
    await adoptAll(play);
  }),
);

const wait = fc
  .constantFrom(1_000, 6_000, 61_000, 4 * 60_000, 11 * 60_000)
  .map((forMs) => step(`wait ${forMs}`, async () => advance(forMs)));

const strike = fc
  .tuple(fc.constantFrom("reconcile-ledger", "refresh-catalog"), maybeDisturbed)
  .map(([schedule, choice]) =>
    step(`strike ${schedule} ${JSON.stringify(choice)}`, async (play) => {
      await disturbed(play, choice, () => play.world.strike(schedule));
      await adoptAll(play);
    }),
  );

const read = stepOf("read", which, async (play, actor, choice) => {
  beforeRequest(play);
  const wallet = await callUndisturbed(play, routes.getWallet, actor.keys.live, undefined);
  const balance = balanceOf(actor.book) / 100;
  if (wallet !== undefined) expect(wallet.body.data).toMatchObject({ wallet: { balance } });
  const entries = [...actor.book.entries.values()];
  const entry = entries[choice % Math.max(1, entries.length)];
  if (entry !== undefined) await readOne(play, actor, entry);
});

const readOne = async (play: Play, actor: Actor, { mode: of, reference: name, kobo, status }: Entry) => {
  const path = `/v1/transactions/${name}`;
  const answer = await callUndisturbed(play, routes.getTransaction, actor.keys[of], undefined, path);
  if (answer === undefined) return;
  expect(answer.body.data).toMatchObject({
    transaction: { caller_reference: name, amount: kobo / 100, status },
  });
};

const changeKey = stepOf("key", mode, async (play, actor, of) => {
  const { world } = play;
  const { accountId } = actor.stage;
  const before = actor.keys[of];
  const permissions: readonly Permission[] = permissionSchema.options;
  const made = await createKey(world.accounts, accountId, { mode: of, permissions });
  const { keys } = await requireAccount(world.accounts, accountId);
  const old = keys.filter(
    ({ mode: other, status, key_id }) => other === of && status === "active" && key_id !== made.keyId,
  );
  for (const { key_id } of old) await revokeKey(world.accounts, accountId, key_id);
  actor.keys[of] = made.key;
  const refused = await callUndisturbed(play, routes.getWallet, before, undefined);
  if (refused !== undefined) expect(codeOf(refused)).toBe("invalid_api_key");
});

/** What is missed is told again at the end, so that it is switched off in few programs. */
const to = fc.oneof(
  { weight: 1, arbitrary: fc.constant("off") },
  { weight: 20, arbitrary: fc.constantFrom("on", "secret") },
);
const changeEndpoint = stepOf("endpoint", to, async ({ world }, actor, change) => {
  const { accountId } = actor.stage;
  if (change === "off") {
    actor.missed = true;
    await disableEndpoint(world.endpoints, accountId);
  }
  if (change === "on") await enableEndpoint(world.endpoints, accountId);
  if (change === "secret") await rotateWebhookSecret(world.endpoints, accountId);
});

/** Programs of what apps, operators, the upstream, time and chance may do. */
export const programs = (stepsMax: number) =>
  fc.commands(
    [
      ...times(5, buyData),
      ...times(4, buyAirtime),
      ...times(4, verify),
      ...times(2, wrongBody),
      ...times(2, moveMoney),
      ...times(4, report),
      unknownEvent,
      resolve,
      ...times(4, pump),
      ...times(2, wait),
      strike,
      ...times(2, read),
      changeKey,
      changeEndpoint,
    ],
    { maxCommands: stepsMax, size: "max" },
  );

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
