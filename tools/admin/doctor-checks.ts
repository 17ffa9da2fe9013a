import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { sells } from "../../infra/stages.ts";
import { purchasesText, purchasesView } from "../../shared/actions/purchases.ts";
import { readWaitingOrders } from "../../shared/actions/waiting-orders.ts";
import { fetchCatalog } from "../../shared/catalog/refresh-catalog.ts";
import { successEnvelope } from "../../shared/contract/envelope.ts";
import { upstreamEventReceipt } from "../../shared/contract/upstream-event.ts";
import { openTransactions } from "../../shared/ledger/find-transactions.ts";
import { STUCK_MS } from "../../shared/ledger/transaction.ts";
import { longWaitS } from "../../shared/ledger/waiting-order.ts";
import { readPurchasesSwitch } from "../../shared/orders/purchases-switch.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { scheduleDeadLetters, streamDeadLetters } from "../../shared/platform/queue-names.ts";
import { SECRET_ABSENCE_CACHE_MS, secret } from "../../shared/platform/secrets.ts";
import { isoTime, systemClock } from "../../shared/platform/time.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { upstreamKeyId, usableKeys } from "../../shared/upstream/key-pool.ts";
import { listEvents } from "../../shared/upstream-events/stored-event.ts";
import {
  parseUpstreamSignature,
  signatureOf,
  type UpstreamSignature,
} from "../../shared/upstream-events/upstream-signature.ts";
import { alarms, consumers, limits } from "./account-checks.ts";
import { type CheckResult, type DoctorCheck, lookInto, ok, skipped, wrong } from "./check-result.ts";
import type { AdminContext } from "./context.ts";
import type { Target } from "./target.ts";
import { duration } from "./views/print.ts";
import { sendingText } from "./views/transactions.ts";

const TIMEOUT_MS = 16_000;
const HOUR_MS = 3_600_000;
/** A refresh is due each hour, and is tried each minute from then on. */
const CATALOG_LATE_MS = 1.25 * HOUR_MS;
const CATALOG_TOO_OLD_MS = 24 * HOUR_MS;

/** The longest time until the functions see the first value of a secret. */
const FIRST_VALUE_DELAY = duration(SECRET_ABSENCE_CACHE_MS);

const service: DoctorCheck = async ({ target }) => {
  const { status } = await fetch(`${target.baseUrl}/openapi.json`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (status === 200) return ok(`responds at ${target.baseUrl}`);
  return wrong(`responds ${status} at ${target.baseUrl}`, "Read the logs of the functions");
};

const WORKERS_OFF = "upstream events, outcomes and webhooks wait";

/** Purchases without workers debit wallets while refunds and events wait. */
const selling: DoctorCheck = async ({ target, purchases: store }) => {
  const { WORKERS } = target.environment;
  const state = await readPurchasesSwitch(store);
  const found = `${purchasesText(purchasesView(state))}, workers ${WORKERS}`;
  const workersOn = 'Set workers to "on" in infra/stages.ts and deploy; after a restore, once its steps are done';
  if (state.purchases === "on") return WORKERS === "on" ? ok(found) : wrong(`${found}: ${WORKERS_OFF}`, workersOn);
  const refused = "new orders are refused (503)";
  return WORKERS === "on"
    ? lookInto(`${found}: ${refused}`, "Run purchases on")
    : lookInto(`${found}: ${refused}; ${WORKERS_OFF}`, `${workersOn}. Then run purchases on`);
};

/** Test keys need no upstream: a stage for them alone has no key for it, no catalog of it and no events from it. */
const servesTestKeysOnly = ({ stage }: Target): boolean => stage !== undefined && !sells(stage.settings);

const upstreamKey: DoctorCheck = async (context) => {
  const { UPSTREAM_KEY_SECRET_ID } = context.target.environment;
  const text = await secret(context.secrets, UPSTREAM_KEY_SECRET_ID).value();
  if (text === undefined) {
    if (servesTestKeysOnly(context.target)) return skipped("is not set: the stage serves test keys only");
    return wrong("is not set", `Run secrets set upstream-key; the functions see it within ${FIRST_VALUE_DELAY}`);
  }
  const keys = usableKeys(text);
  if (keys.length === 0) return wrong("holds no key that a header can hold", "Run secrets set upstream-key");
  if (!context.target.isLocal) {
    const result = await checkByCatalogAge(context);
    if (keys.length === 1) return result;
    return { ...result, found: `${keys.length} keys are set; ${result.state === "ok" ? "one " : ""}${result.found}` };
  }
  const results = await Promise.all(
    keys.map(async (key) => ({ id: upstreamKeyId(key), result: await checkKey(context, key) })),
  );
  return ofAllKeys(results);
};

/** Reads the catalog with one key, which is free. */
const checkKey = async ({ target }: AdminContext, key: string): Promise<CheckResult> => {
  const { UPSTREAM_BASE_URL } = target.environment;
  const value = async () => key;
  const upstream = httpUpstream({ baseUrl: UPSTREAM_BASE_URL, liveKey: { value, refetch: value } });
  const fetched = await fetchCatalog(upstream, deadlineIn(TIMEOUT_MS));
  if (fetched.kind === "fetched" && fetched.catalog.data_plans.length > 0) {
    return ok(`is accepted at ${UPSTREAM_BASE_URL}`);
  }
  if (fetched.kind === "fetched")
    return wrong("is accepted, but the catalog is empty", "Run catalog diff; ask the upstream");
  const answer = String(fetched.details.answer ?? fetched.reason);
  if (answer === "status_401") return wrong("is refused (401)", "Run secrets set upstream-key");
  if (answer === "status_403")
    return wrong("is refused, or our address is (403)", "Ask the upstream to whitelist our addresses");
  if (fetched.reason === "unreachable")
    return wrong(
      `no response from the upstream (${answer})`,
      "Ask the upstream. Until it responds, purchases get 502 and are refunded",
    );
  return wrong(`is accepted, but the catalog is ${fetched.reason}`, "Run catalog diff; ask the upstream");
};

type KeyResult = { readonly id: string; readonly result: CheckResult };

/** Orders are sent while one key works, with fewer of them a minute: then the others are no fault of the service. */
const ofAllKeys = (results: readonly KeyResult[]): CheckResult => {
  const [first] = results;
  if (first === undefined || results.length === 1) return first?.result ?? skipped("is not set");
  const failed = results.filter(({ result }) => result.state !== "ok");
  const [problem] = failed;
  if (problem === undefined)
    return { ...first.result, found: `${results.length} keys are set: each ${first.result.found}` };
  const problems = failed.map(({ id, result }) => `key ${id} ${result.found}`);
  const found = `${results.length} keys are set; ${problems.join("; ")}`;
  if (failed.length === results.length) return { ...problem.result, found };
  return lookInto(found, "Ask the upstream, or run secrets set upstream-key with the other keys only");
};

/** A stage calls the upstream from its own addresses only: a recent catalog shows that key and addresses work. */
const checkByCatalogAge = async ({ catalog, ledger }: AdminContext): Promise<CheckResult> => {
  const snapshot = await catalog.read();
  const ageMs = snapshot === undefined ? Number.POSITIVE_INFINITY : ledger.clock() - snapshot.fetchedAtMs;
  if (ageMs <= CATALOG_LATE_MS) return ok(`was accepted ${duration(ageMs)} ago, when the catalog was fetched`);
  return wrong(
    "no recent catalog was fetched with it",
    "Find catalog.refresh_failed in the log: status_401 is the key, status_403 our addresses (EgressIp outputs)",
  );
};

const address: DoctorCheck = async (context) => {
  if (servesTestKeysOnly(context.target)) return skipped("the stage has no fixed addresses and serves test keys only");
  if (!context.target.isLocal) return checkByCatalogAge(context);
  return skipped("the local service calls the upstream from this machine's address");
};

const catalog: DoctorCheck = async ({ target, catalog, ledger }) => {
  const snapshot = await catalog.read();
  if (snapshot === undefined && servesTestKeysOnly(target)) return ok("test keys get the built-in one");
  if (snapshot === undefined) return wrong("none has been fetched yet", "Run catalog refresh");
  const ageMs = ledger.clock() - snapshot.fetchedAtMs;
  const age = `${duration(ageMs)} old`;
  if (ageMs > CATALOG_TOO_OLD_MS) return wrong(`${age}: too old to sell from`, "Run catalog refresh");
  if (ageMs > CATALOG_LATE_MS) return lookInto(`${age}: refreshes fail`, "Run catalog refresh and catalog diff");
  const { count } = snapshot.dropped;
  if (count > 0) {
    return lookInto(
      `${age}; invalid entries dropped: ${count}`,
      "Run catalog show and report the entries to the upstream",
    );
  }
  return ok(age);
};

/** Sends an event of an unknown type: it passes every check of receive-upstream-event and changes nothing. */
const webhook: DoctorCheck = async ({ target, secrets }) => {
  const { WEBHOOK_TOKEN_SECRET_ID: tokenId, UPSTREAM_HMAC_SECRET_ID, UPSTREAM_SIGNATURE } = target.environment;
  const token = await secret(secrets, tokenId).value();
  if (token === undefined && servesTestKeysOnly(target)) return skipped("has no path token: no upstream sends events");
  if (token === undefined)
    return wrong("has no path token: all events are refused", "Run secrets rotate webhook-token");
  const key = await secret(secrets, UPSTREAM_HMAC_SECRET_ID).value();
  const scheme = parseUpstreamSignature(UPSTREAM_SIGNATURE);
  if (scheme !== undefined && key === undefined) {
    return wrong(
      "has no signing key, but signatures are on: all events are refused",
      `Run secrets set upstream-webhook-hmac; the functions see it within ${FIRST_VALUE_DELAY}`,
    );
  }
  const url = `${target.baseUrl}/webhooks/upstream`;
  const signed = scheme && key !== undefined ? { scheme, key } : undefined;
  const response = await postProbe(`${url}/${token}`, signed);
  if (response === "ignored" && key !== undefined && scheme === undefined) {
    return lookInto(
      "accepts events; a signing key is set, but signatures are not checked",
      "Set the stage's upstreamSignature and deploy",
    );
  }
  if (response === "ignored") return ok(`accepts ${signed ? "signed " : ""}events`);
  const before = await secret(secrets, tokenId, systemClock, "AWSPREVIOUS").value();
  if (response === 404 && before !== undefined && (await postProbe(`${url}/${before}`, signed)) === "ignored") {
    return lookInto("accepts events at its old URL only", "Run doctor again in some seconds");
  }
  return wrong(
    `responds ${response} to an event`,
    "After a rotation, run doctor again in some seconds; else read the logs of receive-upstream-event",
  );
};

const postProbe = async (
  url: string,
  signed: { readonly scheme: UpstreamSignature; readonly key: string } | undefined,
): Promise<number | "ignored"> => {
  const body = JSON.stringify({ event: "doctor.called" });
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(signed && { [signed.scheme.header]: signatureOf(signed.scheme, signed.key, body) }),
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const receipt = successEnvelope(upstreamEventReceipt).safeParse(await response.json().catch(() => undefined)).data;
  return receipt?.data.outcome === "ignored" ? "ignored" : response.status;
};

const deadLetters: DoctorCheck = async ({ sqs, target }) => {
  const attribute = async (QueueUrl: string, name: "RedrivePolicy" | "ApproximateNumberOfMessages") =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [name] }))).Attributes?.[name];
  const deadLettersOf = async (url: string): Promise<string> => {
    const policy = redrivePolicy.parse(JSON.parse((await attribute(url, "RedrivePolicy")) ?? "{}"));
    return policy.deadLetterTargetArn.split(":").at(-1) ?? "";
  };
  const { OUTCOMES_QUEUE_URL, DELIVERY_QUEUE_URL } = target.environment;
  const names = {
    outcomes: await deadLettersOf(OUTCOMES_QUEUE_URL),
    delivery: await deadLettersOf(DELIVERY_QUEUE_URL),
    // The local service retries its stream and its schedules without dead letters.
    ...(target.stage && { stream: streamDeadLetters(target.name), schedules: scheduleDeadLetters(target.name) }),
  };
  const counts = await Promise.all(
    Object.entries(names).map(async ([name, queue]) => {
      const count = await attribute(new URL(queue, OUTCOMES_QUEUE_URL).href, "ApproximateNumberOfMessages");
      return { name, count: Number(count ?? 0) };
    }),
  );
  const filled = counts.filter(({ count }) => count > 0).map(({ name, count }) => `${name}: ${count}`);
  if (filled.length === 0) return ok("none");
  return wrong(filled.join(", "), 'Follow "Dead letters" in docs/runbook.md');
};

const redrivePolicy = z.object({ deadLetterTargetArn: z.string() });

const stuck: DoctorCheck = async ({ ledger }) => {
  const range = { from: "0000", to: isoTime(ledger.clock() - STUCK_MS) };
  const { length } = await openTransactions(ledger, range);
  if (length === 0) return ok("none");
  return lookInto(`${length} open for more than 15 minutes`, "Run transactions list --stuck");
};

/** Of many orders the last is sent late, or refunded. */
const waiting: DoctorCheck = async (context) => {
  const { count, oldestS = 0, sendingS } = await readWaitingOrders(context);
  if (count === 0) return ok("none");
  const age = `${count} wait for the upstream's rate limit, the oldest for ${duration(oldestS * 1_000)}`;
  const todo = 'Follow "Waiting orders" in docs/runbook.md';
  if (sendingS === undefined) return lookInto(`${age}; purchases are off: they are neither sent nor refunded`, todo);
  const found = `${age}; sending them takes ${sendingText(sendingS)}`;
  return Math.max(oldestS, sendingS) > longWaitS(context.target.environment.WAITING_MINUTES)
    ? lookInto(found, todo)
    : ok(found);
};

const events: DoctorCheck = async ({ ledger }) => {
  const { length } = (await listEvents(ledger, "0000")).filter(({ state }) => state === "open");
  if (length === 0) return ok("none");
  return lookInto(`${length} wait for an operator`, "Run events list");
};

/** The checks by the names that doctor prints. */
export const doctorChecks: Readonly<Record<string, DoctorCheck>> = {
  service,
  selling,
  "upstream key": upstreamKey,
  address,
  catalog,
  "upstream's webhook": webhook,
  limits,
  consumers,
  alarms,
  "dead letters": deadLetters,
  "stuck transactions": stuck,
  "waiting orders": waiting,
  events,
};
