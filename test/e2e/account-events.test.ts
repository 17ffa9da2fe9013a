import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { catalogSchema } from "../../shared/contract/catalog.ts";
import { catalogUpdated, walletLow } from "../../shared/contract/openapi-webhooks.ts";
import { loadFunctions } from "../../tools/local/functions.ts";
import { type OperatedService, startOperatedService } from "../builders/admin.ts";
import { eventually } from "../builders/eventually.ts";
import { type Receiver, standardHeaders, startReceiver } from "../builders/receiver.ts";

/**
 * Goal: a caller receives the events that its operator chose, and only these. Method: the command line, the whole
 * service and a receiver over sockets; a schedule's minute is one invocation.
 */
let service: OperatedService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperatedService(), startReceiver()]);
});
afterAll(async () => {
  await Promise.all([service.stop(), receiver.stop()]);
});

const received = (event: string) => receiver.received.filter(({ body }) => body.startsWith(`{"event":"${event}"`));
const arrived = (event: string, count: number) => eventually(() => expect(received(event)).toHaveLength(count));

const EVENTS = "transaction.updated,wallet.low,catalog.updated";
const endpoint = z.object({ webhook_secret: z.string(), events: z.array(z.string()) });

/** A minute of the function that checks balances. */
const passMinute = async (): Promise<void> => {
  const invoke = await loadFunctions(["requeue-deliveries"], new URL("../../functions/", import.meta.url));
  await invoke("requeue-deliveries", {});
};

test("a caller gets wallet.low once for each fall below its threshold, and an operator can show and replay it", async () => {
  const { account, key } = await service.newApp();
  const set = endpoint.parse(await service.adminJson(["webhook", "set", account, receiver.url, "--events", EVENTS]));
  expect(set.events.join()).toBe(EVENTS);
  await service.adminJson(["wallet", "threshold", account, "4800"]);
  await passMinute();
  await service.buy(key, "08031234567");
  for (let minute = 0; minute < 2; minute += 1) await passMinute();
  await arrived("wallet.low", 1);
  const [first] = received("wallet.low");
  const verified = first && new Webhook(set.webhook_secret).verify(first.body, standardHeaders(first));
  expect(walletLow.parse(verified).data).toMatchObject({ account_id: account, balance: 4_500, threshold: 4_800 });

  await service.adminJson(["wallet", "fund", account, "1000", "--id", `more-${account}`]);
  await passMinute();
  await service.buy(key, "08031234567");
  await service.buy(key, "08031234568");
  await passMinute();
  await arrived("wallet.low", 2);
  const [, second] = received("wallet.low");
  expect(second?.headers.id).not.toBe(first?.headers.id);

  const id = first?.headers.id ?? "";
  expect((await service.admin(["deliveries", "list", account])).stdout).toMatch(new RegExp(`${id} +1 +wallet.low`));
  await eventually(async () =>
    expect((await service.admin(["deliveries", "show", id])).stdout).toMatch(/delivered +200/),
  );
  await service.adminJson(["deliveries", "replay", id]);
  await arrived("wallet.low", 3);
  expect([received("wallet.low")[2]?.headers.id, received("wallet.low")[2]?.body]).toEqual([id, first?.body]);
  await eventually(async () => expect((await service.admin(["deliveries", "show", id])).stdout).toMatch(/replay-/));
});

test("only subscribed callers get catalog.updated after the upstream's catalog changed", async () => {
  const [subscribed, other] = [await service.newApp(), await service.newApp()];
  const [chosen, unchosen] = await Promise.all([
    service.adminJson(["webhook", "set", subscribed.account, receiver.url, "--events", EVENTS]),
    service.adminJson(["webhook", "set", other.account, receiver.url]),
  ]);

  const response = await fetch(`${service.details.base_url}/vtu/data`, {
    headers: { authorization: `Bearer ${subscribed.key}` },
  });
  const { data } = z.object({ data: catalogSchema }).parse(await response.json());
  const [plan, ...rest] = data.data_plans;
  if (plan === undefined) throw new Error("The catalog is empty");
  const changed = { ...data, data_plans: [{ ...plan, price: plan.price + 10 }, ...rest] };
  await service.controlSimulator("PUT", "catalog", { status: true, message: "OK", data: changed });
  receiver.received.length = 0;
  await service.adminJson(["catalog", "refresh"]);
  await service.adminJson(["catalog", "refresh"]);
  const sentTo = (set: unknown) =>
    received("catalog.updated").flatMap((event) => {
      try {
        return [
          catalogUpdated.parse(
            new Webhook(endpoint.parse(set).webhook_secret).verify(event.body, standardHeaders(event)),
          ),
        ];
      } catch {
        return [];
      }
    });
  await eventually(() => expect(sentTo(chosen)).toHaveLength(1));
  expect(sentTo(chosen)[0]?.data.plans_repriced).toMatchObject([
    { id: plan.id, price: plan.price + 10, previous_price: plan.price },
  ]);
  expect(sentTo(unchosen)).toEqual([]);
});
