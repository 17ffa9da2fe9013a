import { expect, test } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { settleAsRead } from "../../../../shared/ledger/settle-transaction.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { nextOrder, openLane } from "../../../../shared/queued-orders/lane.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { takeTurn } from "../../../../shared/queued-orders/turn.ts";
import { NO_ORDERS_QUEUED } from "../../../../shared/queued-orders/upstream-pace.ts";
import { RATE_LIMITED } from "../../../../shared/upstream/upstream.ts";
import { openLedgerAtNoon } from "../../../builders/ledger-at-noon.ts";
import { FACE_VALUES } from "../../../builders/upstream-costs.ts";

const NO_BLOCKS = { limitUntilMs: 0, unrecognizedUntilMs: 0 };
const unexpected = () => Promise.reject(new Error("Not expected"));

test("an order that the upstream's limit refuses holds the later ones of its account before the refusal is noted", async () => {
  const ledger = await openLedgerAtNoon();
  const transaction = await ledger.anOpenTransaction(await ledger.anAccount(1_000), { phone_number: "08031234567" });
  await enqueueOrder(ledger, transaction, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
  const lane = await openLane(ledger, transaction.account_id);
  const order = lane && (await nextOrder(ledger, lane));
  if (lane === undefined || order === undefined) expect.unreachable();

  const wasHeld: boolean[] = [];
  const note = async () => void wasHeld.push(lane.isHeld);
  const deps = {
    ledger,
    cache: ledger,
    outcomeQueue: { send: unexpected },
    gate: {
      purchases: async () => "on" as const,
      ...{ pace: () => NO_ORDERS_QUEUED, blocks: () => NO_BLOCKS, noteBlocks: note, noteOutcome: note },
    },
    catalog: catalogMemory({ read: unexpected }, ledger.clock),
    upstream: {
      ...{ waitS: () => 0, blocks: () => NO_BLOCKS, learnBlocks: () => {}, requestsLeft: () => 1, perMinute: () => 60 },
      ...{ assertReady: unexpected, check: unexpected, fetchCatalog: unexpected },
      buy: async () => ({ kind: "account_error", reason: RATE_LIMITED }) as const,
    },
    queueMinutes: 15,
    costs: FACE_VALUES,
  };
  const deadline = deadlineIn(29_000);
  const run = {
    deps,
    deadline,
    lastTurn: deadline,
    plans: undefined,
    settle: settleAsRead,
    notWritten: new Set<string>(),
  };
  expect(await takeTurn(run, order, { lane, number: 1 })).toBe("unchanged");
  expect(wasHeld).toEqual([true, true]);
});
