import { type Backends, openBackends } from "../backends.ts";
import { type Bundle, bundleOf } from "../bundle.ts";
import { startLambda } from "../lambda-process.ts";
import type { Part } from "../part.ts";
import { startServer } from "../server-process.ts";
import { type Stack, stacks } from "../stacks.ts";
import { drawPurchases } from "./chart.ts";
import { type Counts, countPurchase } from "./counts.ts";
import { allRounds, type Runner, runRounds, type Slices } from "./rounds.ts";
import { buyFromHandler, buyFromServer, handlerOrders, serverLoad } from "./slice.ts";
import { purchaseTables, purchaseTargets } from "./tables.ts";

/** The measurements of all stacks. */
export type PurchaseResults = {
  readonly counts: ReadonlyMap<Stack["name"], Counts>;
  readonly handlers: Slices;
  readonly servers: Slices;
};

type Bundles = ReadonlyMap<Stack, Bundle>;

export const purchase: Part = {
  description:
    `buys ${handlerOrders} data bundles from the Lambda handler of each of ${stacks.length} stacks in turn, ${allRounds} times, ` +
    `and ${serverLoad.orders} from its server as often; about 3 minutes`,
  measure: async (report) => {
    const backends = await openBackends();
    try {
      report("bundling, and counting calls and capacity");
      const bundles = new Map<Stack, Bundle>();
      const counts = new Map<Stack["name"], Counts>();
      for (const stack of stacks) {
        const bundle = await bundleOf(stack, backends.file(`${stack.name}.mjs`));
        bundles.set(stack, bundle);
        counts.set(stack.name, await countPurchase(stack, bundle, backends));
      }
      assertSameCalls(counts);
      const handlers = await runRounds(handlerRunner(bundles, backends), stacks, backends, report);
      const servers = await runRounds(serverRunner(backends), stacks, backends, report);
      const results = { counts, handlers, servers };
      return {
        sections: { targets: purchaseTargets(results), purchase: purchaseTables(results) },
        drawings: { "performance.svg": drawPurchases(results) },
      };
    } finally {
      await backends.stop();
    }
  },
};

/** The floor is one only as long as it sends what the service sends. */
const assertSameCalls = (counts: PurchaseResults["counts"]): void => {
  const [service, floor] = [counts.get("service"), counts.get("floor")].map((counted) => {
    const { logBytes: _log, answerBytes: _answer, ...sent } = counted ?? { logBytes: 0, answerBytes: 0 };
    return JSON.stringify(sent);
  });
  if (service !== floor) throw new Error(`peers/floor.ts sends ${floor}, and the service ${service}`);
};

const handlerRunner = (bundles: Bundles, backends: Backends): Runner => ({
  title: "handlers",
  orders: handlerOrders,
  start: async (stack) => {
    const environment = { ...stack.environment(backends), ...backends.awsEnvironment() };
    await stack.prepare(backends, 1);
    const bundle = bundles.get(stack);
    if (bundle === undefined) return undefined;
    const lambda = await startLambda(bundle, environment, backends.file(`${stack.name}-handler.log`));
    return { buy: (keys) => buyFromHandler(lambda, keys), stop: lambda.stop };
  },
});

const serverRunner = (backends: Backends): Runner => ({
  title: "servers",
  orders: serverLoad.orders,
  start: async (stack) => {
    if (stack.server === undefined) return undefined;
    const environment = { ...stack.environment(backends), ...backends.awsEnvironment() };
    const server = await startServer(stack.server, environment, backends.file(`${stack.name}-server.log`));
    return { buy: (keys) => buyFromServer(server, keys), stop: server.stop };
  },
});
