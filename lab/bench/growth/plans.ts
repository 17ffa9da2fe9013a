import { catalogStore } from "../../../shared/catalog/catalog-store.ts";
import { snapshotOf } from "../../../shared/catalog/snapshot.ts";
import type { Catalog } from "../../../shared/contract/catalog.ts";
import { weigh } from "../../../test/builders/dynamodb/observe.ts";
import { anOrder, BUY_DATA, startTestService, type TestService } from "../../../test/builders/service/service.ts";
import { aPlan } from "../../../test/builders/upstream/catalog.ts";
import { setEnvironment } from "../../../tools/local/local-aws.ts";
import { localTableNames } from "../../../tools/local/tables.ts";
import { type Client, createClient, orderRequest, type Sent } from "../../load/client.ts";
import { type ColdGateway, openColdGateway } from "../cold-gateway.ts";
import { sizes, times } from "../extent.ts";
import { median } from "../statistics.ts";

export const planCounts = sizes([1, 10, 100, 1_000]);
const ROUNDS = times(3);
/** Requests of each kind per round. */
const WARM = times(60);
const COLD = times(10);
const PURCHASES = times(40);

export type PlanResults = {
  readonly plans: number;
  readonly answerBytes: number;
  readonly listWarmMs: number;
  readonly listColdMs: number;
  readonly buyWarmMs: number;
  readonly buyColdMs: number;
};
type Samples = { -readonly [Name in keyof Omit<PlanResults, "plans">]: number[] };

/** Measures the catalog and purchases with catalogs of different sizes, over loopback. */
export const measurePlans = async (): Promise<readonly PlanResults[]> => {
  const service = await startTestService();
  const restore = setEnvironment({ AWS_ENDPOINT_URL_DYNAMODB: service.dynamodbEndpoint });
  const gateway = await openColdGateway(["list-catalog", "purchase"]);
  const client = createClient(gateway.baseUrl);
  try {
    const taken = new Map(planCounts.map((plans): [number, Samples] => [plans, noSamples()]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [plans, samples] of taken) {
        await sell(service, plans);
        const { newKey, key } = await service.newCaller({ naira: 10_000_000 });
        await measureRound({ gateway, client, plans, listKey: key, buyKey: await newKey() }, samples);
      }
    }
    return [...taken].map(([plans, samples]) => ({
      plans,
      answerBytes: median(samples.answerBytes),
      listWarmMs: median(samples.listWarmMs),
      listColdMs: median(samples.listColdMs),
      buyWarmMs: median(samples.buyWarmMs),
      buyColdMs: median(samples.buyColdMs),
    }));
  } finally {
    client.close();
    await gateway.close();
    restore();
    await service.stop();
  }
};

const noSamples = (): Samples => ({
  answerBytes: [],
  listWarmMs: [],
  listColdMs: [],
  buyWarmMs: [],
  buyColdMs: [],
});

/** Writes a catalog to the cache and to the simulator. */
const sell = async ({ db, simulator }: TestService, plans: number): Promise<void> => {
  const data = catalogOf(plans);
  simulator.state.catalogBody = { status: true, message: "Data plans retrieved successfully.", data };
  await catalogStore(db, localTableNames.cache).write(snapshotOf(data, Date.now()));
};

const networks = ["MTN", "Airtel", "Glo", "9mobile"].map((name, index) => ({
  id: index + 1,
  name,
  code: name.toLowerCase(),
}));
const validities = ["1 day", "7 days", "14 days", "30 days"];

/** Plans that differ, because equal ones would be compressed to almost nothing. The first one is bought. */
const catalogOf = (plans: number): Catalog => ({
  networks,
  data_plans: Array.from({ length: plans }, (_, index) =>
    index === 0
      ? aPlan()
      : aPlan({
          id: 101 + index,
          network_id: 1 + (index % networks.length),
          name: `${((index * 37) % 200) / 10 + 0.1}GB`,
          price: 95 + ((index * 7_919) % 60_000) / 4,
          validity: validities[(index * 5) % validities.length] ?? "",
        }),
  ),
});

type Round = {
  readonly gateway: ColdGateway;
  readonly client: Client;
  readonly plans: number;
  readonly listKey: string;
  readonly buyKey: string;
};

const measureRound = async (round: Round, samples: Samples): Promise<void> => {
  const { gateway, listKey, buyKey } = round;
  const list: Sent = { method: "GET", path: "/vtu/data", headers: gzipped(listKey) };
  const buy = orderRequest(BUY_DATA, buyKey, anOrder());
  for (let count = 0; count < COLD; count += 1) {
    await gateway.begin();
    samples.listColdMs.push(await ask(round, list));
    samples.buyColdMs.push(await ask(round, buy));
  }
  for (let count = 0; count < WARM; count += 1) samples.listWarmMs.push(await ask(round, list));
  for (let count = 0; count < PURCHASES; count += 1) samples.buyWarmMs.push(await ask(round, buy));
  const { bodyBytes } = await weigh("GET", `${gateway.baseUrl}/vtu/data`, gzipped(listKey));
  samples.answerBytes.push(bodyBytes);
};

const gzipped = (key: string) => ({ authorization: `Bearer ${key}`, "accept-encoding": "gzip" });

const ask = async ({ client, plans }: Round, sent: Sent): Promise<number> => {
  const reply = await client.send(sent);
  if (reply.kind !== "answered" || reply.status !== 200) {
    throw new Error(`With ${plans} plans: ${JSON.stringify(reply)}`);
  }
  return reply.durationMs;
};
