import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { functionSpecs } from "../../../functions/specs.ts";
import { bundleOptionsOf, functionEntry } from "../../../infra/bundle/bundle-options.ts";
import { queues } from "../../../infra/queues.ts";
import { mapInOrder } from "../../../shared/platform/map-in-order.ts";
import { emulatorClientAt } from "../../../test/builders/dynamodb/emulator-client.ts";
import { selfSigned } from "../../../test/builders/network/self-signed.ts";
import { dollarsOf } from "../../../tools/costs/prices.ts";
import { startDynoxide } from "../../../tools/local/dynoxide.ts";
import { localAwsEnvironment } from "../../../tools/local/local-aws.ts";
import { startQueues } from "../../../tools/local/queues.ts";
import { loadSecrets, startSecretsManager } from "../../../tools/local/secrets.ts";
import { createTables } from "../../../tools/local/tables.ts";
import { markdownTable, wrap } from "../../../tools/markdown/markdown.ts";
import { temporaryFolder } from "../../../tools/usage/temporary-folder.ts";
import { type Bundle, bundleOf } from "../bundle.ts";
import { isShort, times } from "../extent.ts";
import { type LambdaProcess, startLambda } from "../lambda-process.ts";
import type { Part, Report } from "../part.ts";
import { serviceEnvironment } from "../service-environment.ts";
import { digits, median, quantile } from "../statistics.ts";
import { openCpuShare, PERIOD_US, WHOLE_CORE_MB } from "./cpu-share.ts";
import { openDelayedProxy } from "./delayed-proxy.ts";
import { type MeasuredFunction, measuredFunctions, prepareInvocations } from "./invocations.ts";
import { ENDPOINT_MS, openOutside, UPSTREAM_MS } from "./outside.ts";

const sizesMb = isShort ? [WHOLE_CORE_MB] : [128, 256, 384, 512, 1_024, WHOLE_CORE_MB];
/** What a call to AWS takes, besides the emulator's own time. */
const AWS_DELAY_MS = 5;
/** New instances of each size: the time to the first response of each, and warm invocations of the last. */
const FIRST_REQUESTS = times(3);
const WARM_UP = times(10);
const WARM = times(100);

const upstreamFunctions: ReadonlySet<MeasuredFunction> = new Set(["purchase", "check-identity"]);

/** One function with the limits of one size. */
type SizeResults = {
  readonly name: MeasuredFunction;
  readonly memoryMb: number;
  readonly firstMs: readonly number[];
  readonly warm: readonly WarmInvocation[];
  readonly memoryKb: number;
};

type WarmInvocation = {
  readonly durationMs: number;
  /** Its duration without the waiting for AWS and for outside parties. */
  readonly ownMs: number;
  readonly cpuMs: number;
};

export const memory: Part = {
  description: `runs ${measuredFunctions.length} functions with the CPU shares of ${sizesMb.length} sizes; about a quarter of an hour`,
  measure: async (report) => {
    const results = await measureSizes(report);
    return { sections: { memory: memoryText(results) } };
  },
};

/** The emulators and outside parties of the instances of one size, behind delays. */
type Connections = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How long its instances have waited for AWS and for outside parties since the last call. */
  readonly takeWaitedMs: () => number;
  readonly stop: () => void;
};

const measureSizes = async (report: Report): Promise<readonly SizeResults[]> => {
  const folder = temporaryFolder("memory-");
  const file = (name: string): string => join(folder, name);
  const secrets = loadSecrets(file("secrets.json"));
  const [dynamodb, secretsManager, sqs] = await Promise.all([
    startDynoxide({ pidFile: file("dynoxide.pid"), logFile: file("dynoxide.log") }),
    startSecretsManager(secrets),
    startQueues(queues),
  ]);
  const db = emulatorClientAt(dynamodb.endpoint);
  const tls = selfSigned();
  writeFileSync(file("certificate.pem"), tls.cert);
  const endpoint = await openOutside(tls);
  const openConnections = async (): Promise<Connections> => {
    const outside = await openOutside(tls);
    const proxy = openDelayedProxy(AWS_DELAY_MS);
    return {
      environment: {
        ...serviceEnvironment({ upstreamUrl: outside.upstreamUrl, sqs }),
        ...localAwsEnvironment({
          dynamodb: await proxy.to(dynamodb.endpoint),
          sqs: await proxy.to(sqs.endpoint),
          secretsManager: await proxy.to(secretsManager.endpoint),
        }),
        NODE_EXTRA_CA_CERTS: file("certificate.pem"),
      },
      takeWaitedMs: () => proxy.takeWaitedMs() + outside.takeWaitedMs() + endpoint.takeWaitedMs(),
      stop: () => {
        proxy.stop();
        outside.stop();
      },
    };
  };
  const connections = new Map<number, Connections>();
  try {
    for (const memoryMb of sizesMb) connections.set(memoryMb, await openConnections());
    await createTables(dynamodb.endpoint);
    const invocations = await prepareInvocations(db, secrets, endpoint.endpointUrl);
    const results: SizeResults[] = [];
    for (const name of isShort ? measuredFunctions.slice(-1) : measuredFunctions) {
      const built = { entry: functionEntry(name), bundle: bundleOptionsOf(name) };
      const bundle = await bundleOf(built, file(`${name}.mjs`));
      const sizes: Size[] = [];
      for (const [memoryMb, ofSize] of connections) {
        sizes.push(await measureFirst({ name, memoryMb, bundle, connections: ofSize, next: invocations[name] }));
      }
      results.push(...(await measureWarm(name, sizes)));
      report(`${name} is measured`);
    }
    return results;
  } finally {
    for (const { stop } of connections.values()) stop();
    endpoint.stop();
    db.destroy();
    await Promise.all([dynamodb.stop(), secretsManager.stop(), sqs.stop()]);
  }
};

/** One function with the limits of one size, before and after its first requests. */
type Unstarted = {
  readonly name: MeasuredFunction;
  readonly memoryMb: number;
  readonly bundle: Bundle;
  readonly connections: Connections;
  readonly next: () => Promise<unknown>;
};
type Size = Unstarted & { readonly firstMs: readonly number[]; readonly instance: LambdaProcess };

/** Measures new instances, from the start of the process to the first response, and leaves the last one running. */
const measureFirst = async (unstarted: Unstarted): Promise<Size> => {
  const { name, memoryMb, bundle, connections, next } = unstarted;
  const firstMs: number[] = [];
  for (;;) {
    const event = await next();
    connections.takeWaitedMs();
    const beginMs = performance.now();
    const log = `${bundle.path}-${memoryMb}.log`;
    const instance = await startLambda(bundle, connections.environment, log, openCpuShare(memoryMb));
    await instance.invoke([event], functionSpecs[name].timeoutS);
    firstMs.push(performance.now() - beginMs - connections.takeWaitedMs());
    if (firstMs.length === FIRST_REQUESTS) return { ...unstarted, firstMs, instance };
    await instance.stop();
  }
};

/** Instances that wait for the upstream hardly use a core: those of all sizes run concurrently, the others in turn. */
const measureWarm = async (name: MeasuredFunction, sizes: readonly Size[]): Promise<readonly SizeResults[]> => {
  const concurrencyMax = upstreamFunctions.has(name) ? sizes.length : 1;
  const results: SizeResults[] = [];
  for await (const result of mapInOrder(sizes, concurrencyMax, warmResults)) results.push(result);
  return results;
};

const warmResults = async ({ name, memoryMb, connections, next, firstMs, instance }: Size): Promise<SizeResults> => {
  const warm: WarmInvocation[] = [];
  let memoryKb = 0;
  for (let count = 0; count < WARM_UP + WARM; count += 1) {
    const event = await next();
    connections.takeWaitedMs();
    const { durationsMs, cpuUs, ...invoked } = await instance.invoke([event], functionSpecs[name].timeoutS);
    const [durationMs = Number.NaN] = durationsMs;
    memoryKb = invoked.memoryKb;
    const ownMs = durationMs - connections.takeWaitedMs();
    if (count >= WARM_UP) warm.push({ durationMs, ownMs, cpuMs: cpuUs / 1_000 });
  }
  await instance.stop();
  return { name, memoryMb, firstMs, warm, memoryKb };
};

const summaryOf = ({ memoryMb, firstMs, warm, memoryKb }: SizeResults) => {
  const durationsMs = warm.map(({ durationMs }) => durationMs);
  const ownMs = warm.map((invocation) => invocation.ownMs);
  const billedMs = durationsMs.reduce((sum, durationMs) => sum + Math.ceil(durationMs), 0) / warm.length;
  const usage = { lambdaRequests: 1_000_000, lambdaGbSeconds: billedMs * 1_000 * (memoryMb / 1_024) };
  return {
    p50Ms: quantile(durationsMs, 0.5),
    p99Ms: quantile(durationsMs, 0.99),
    ownP50Ms: quantile(ownMs, 0.5),
    ownP99Ms: quantile(ownMs, 0.99),
    firstMs: median(firstMs),
    cpuMs: median(warm.map(({ cpuMs }) => cpuMs)),
    usedMb: memoryKb / 1_024,
    dollars: dollarsOf(usage),
  };
};

const memoryText = (results: readonly SizeResults[]): string => {
  const table = markdownTable([
    [
      "function",
      "MB",
      "p50, ms",
      "p99, ms",
      "own time, p50, ms",
      "own time, p99, ms",
      "first response, ms",
      "CPU, ms",
      "memory used, MB",
      "USD per million",
    ],
    ...results.map((result) => {
      const { name, memoryMb } = result;
      const { p50Ms, p99Ms, ownP50Ms, ownP99Ms, firstMs, cpuMs, usedMb, dollars } = summaryOf(result);
      const isChosen = functionSpecs[name].memoryMb === memoryMb;
      return [
        `\`${name}\``,
        isChosen ? `**${memoryMb}**` : String(memoryMb),
        ...[p50Ms, p99Ms, ownP50Ms, ownP99Ms, firstMs, cpuMs].map(digits),
        usedMb.toFixed(0),
        dollars.toFixed(2),
      ];
    }),
  ]);
  return `${table}

${wrap(`The bundle of each function runs in a process of its own, in a control group of Linux with the function's memory and
    its share of a core (${WHOLE_CORE_MB.toLocaleString("en-GB")} MB are a whole one), given anew each ${PERIOD_US / 1_000} ms.
    The runtime and all threads of V8 are inside. A call to AWS takes ${AWS_DELAY_MS} ms longer than the emulator, the upstream
    ${UPSTREAM_MS / 1_000} s and an endpoint ${ENDPOINT_MS} ms, both after a TLS handshake. The own time is without these waits.
    The first response counts from the start of the process, and is the median of ${FIRST_REQUESTS} new ones, without the
    waits too; Lambda is known to give a starting function more than its share. The others are ${WARM} warm invocations. Sizes
    in bold are those of functions/specs.ts. Dollars are Lambda's alone.`)}`;
};
