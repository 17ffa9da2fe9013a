import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { fetchCatalog } from "../../shared/catalog/refresh-catalog.ts";
import { successEnvelope } from "../../shared/contract/envelope.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import { upstreamEventReceipt } from "../../shared/contract/upstream-event.ts";
import { openTransactions } from "../../shared/ledger/find-transactions.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { SECRET_ABSENCE_CACHE_MS, secret } from "../../shared/platform/secrets.ts";
import { isoTime, systemClock } from "../../shared/platform/time.ts";
import { listEvents } from "../../shared/upstream-events/stored-event.ts";
import {
  parseUpstreamSignature,
  signatureOf,
  type UpstreamSignature,
} from "../../shared/upstream-events/upstream-signature.ts";
import type { AdminContext } from "./context.ts";
import { duration } from "./print.ts";

/** `look` is for what a person should see to, and is no fault of the service's. */
export type Finding = {
  readonly state: "ok" | "look" | "wrong" | "skipped";
  readonly found: string;
  readonly todo?: string;
};
export type DoctorCheck = (desk: AdminContext) => Promise<Finding>;

const PATIENCE_MS = 16_000;
const HOUR_MS = 3_600_000;
/** A refresh is due each hour, and is tried each minute from then on. */
const CATALOG_LATE_MS = 1.25 * HOUR_MS;
const CATALOG_TOO_OLD_MS = 24 * HOUR_MS;
/** A transaction that is open for longer is stuck. */
export const STUCK_MS = 15 * 60_000;
/** AWS keeps as many from being reserved; a new account may have 10 in all. */
const UNRESERVED_MIN = 100;

/** How long it takes at most until the functions see the first value of a secret. */
const FIRST_VALUE = duration(SECRET_ABSENCE_CACHE_MS);

const ok = (found: string): Finding => ({ state: "ok", found });
const wrong = (found: string, todo: string): Finding => ({ state: "wrong", found, todo });

const service: DoctorCheck = async ({ target }) => {
  const { status } = await fetch(`${target.baseUrl}/openapi.json`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (status === 200) return ok(`answers at ${target.baseUrl}`);
  return wrong(`answers ${status} at ${target.baseUrl}`, "Look into the functions' logs");
};

const WORKERS_OFF = "upstream events, outcomes and webhooks wait";

/** Purchases without workers take money while refunds and events wait. */
const selling: DoctorCheck = async ({ target }) => {
  const { PURCHASES, WORKERS } = target.environment;
  const settings = `purchases ${PURCHASES}, workers ${WORKERS}`;
  const todo = 'Set both to "on" in infra/stages.ts and deploy; after a restore, once its steps are done';
  if (PURCHASES === "on" && WORKERS === "on") return ok(settings);
  if (PURCHASES === "on") return wrong(`${settings}: ${WORKERS_OFF}`, todo);
  const refused = "new orders are refused (503)";
  const found = WORKERS === "on" ? `${settings}: ${refused}` : `${settings}: ${refused}; ${WORKERS_OFF}`;
  return { state: "look", found, todo };
};

const upstreamKey: DoctorCheck = async (desk) => {
  const { UPSTREAM_KEY_SECRET_ID, UPSTREAM_BASE_URL } = desk.target.environment;
  if ((await secret(desk.secrets, UPSTREAM_KEY_SECRET_ID).value()) === undefined) {
    return wrong("is not set", `admin secrets set upstream-key; the functions see it within ${FIRST_VALUE}`);
  }
  if (!desk.target.isLocal) return provenByCatalog(desk);
  const fetched = await fetchCatalog(desk.upstream, deadlineIn(PATIENCE_MS));
  if (fetched.kind === "fetched" && fetched.catalog.data_plans.length > 0) {
    return ok(`is taken at ${UPSTREAM_BASE_URL}`);
  }
  if (fetched.kind === "fetched")
    return wrong("is taken, but the catalog is empty", "admin catalog diff; ask the upstream");
  const answer = String(fetched.details.answer ?? fetched.reason);
  if (answer === "status_401") return wrong("is refused (401)", "admin secrets set upstream-key");
  if (answer === "status_403")
    return wrong("or our address is refused (403)", "Have the upstream whitelist our addresses");
  if (fetched.reason === "unreachable")
    return wrong(`no answer: ${answer}`, "Ask the upstream; purchases answer 502 and are refunded until then");
  return wrong(`is taken, but the catalog is ${fetched.reason}`, "admin catalog diff; ask the upstream");
};

/** A stage calls from its own addresses, and the catalog is what it calls for without being asked. */
const provenByCatalog = async ({ catalog, ledger }: AdminContext): Promise<Finding> => {
  const snapshot = await catalog.read();
  const ageMs = snapshot === undefined ? Number.POSITIVE_INFINITY : ledger.clock() - snapshot.fetchedAtMs;
  if (ageMs <= CATALOG_LATE_MS) return ok(`was taken ${duration(ageMs)} ago, when the catalog was fetched`);
  return wrong(
    "no catalog was fetched with it lately",
    "Look for catalog.refused in the log: status_401 is the key, status_403 our addresses (EgressIp outputs)",
  );
};

const address: DoctorCheck = async (desk) => {
  if (!desk.target.isLocal) return provenByCatalog(desk);
  return { state: "skipped", found: "the local service calls the upstream from this machine's own address" };
};

const catalog: DoctorCheck = async ({ catalog, ledger }) => {
  const snapshot = await catalog.read();
  if (snapshot === undefined) return wrong("none was fetched yet", "admin catalog refresh");
  const ageMs = ledger.clock() - snapshot.fetchedAtMs;
  const age = `${duration(ageMs)} old`;
  if (ageMs > CATALOG_TOO_OLD_MS) return wrong(`${age}: nothing is sold from it`, "admin catalog refresh");
  if (ageMs > CATALOG_LATE_MS)
    return { state: "look", found: `${age}: refreshes fail`, todo: "admin catalog refresh, diff" };
  const { count } = snapshot.dropped;
  if (count > 0) {
    return {
      state: "look",
      found: `${age}; ${count} of the upstream's entries are unusable`,
      todo: "admin catalog show",
    };
  }
  return ok(age);
};

/** An event of a kind that is not supported goes all the way in and changes nothing. */
const webhook: DoctorCheck = async ({ target, secrets }) => {
  const { WEBHOOK_TOKEN_SECRET_ID: tokenId, UPSTREAM_HMAC_SECRET_ID, UPSTREAM_SIGNATURE } = target.environment;
  const token = await secret(secrets, tokenId).value();
  if (token === undefined)
    return wrong("has no path token: all events are refused", "admin secrets rotate webhook-token");
  const key = await secret(secrets, UPSTREAM_HMAC_SECRET_ID).value();
  const scheme = parseUpstreamSignature(UPSTREAM_SIGNATURE);
  if (scheme !== undefined && key === undefined) {
    return wrong(
      "has no signing key, and signatures are on: all events are refused",
      `admin secrets set upstream-webhook-hmac; the functions see it within ${FIRST_VALUE}`,
    );
  }
  const url = `${target.baseUrl}/webhooks/upstream`;
  const signed = scheme && key !== undefined ? { scheme, key } : undefined;
  const answer = await eventAnswer(`${url}/${token}`, signed);
  if (answer === "ignored" && key !== undefined && scheme === undefined) {
    return {
      state: "look",
      found: "takes events in; a signing key is set, but signatures are not checked",
      todo: "Set the stage's upstreamSignature and deploy",
    };
  }
  if (answer === "ignored") return ok(`takes events in${signed ? ", signed" : ""}`);
  const before = await secret(secrets, tokenId, systemClock, "AWSPREVIOUS").value();
  if (answer === 404 && before !== undefined && (await eventAnswer(`${url}/${before}`, signed)) === "ignored") {
    return { state: "look", found: "takes events in at its old URL only", todo: "Ask again in some seconds" };
  }
  return wrong(
    `answers ${answer} to an event`,
    "After a rotation, ask again in some seconds; else look into the logs of receive-upstream-event",
  );
};

const eventAnswer = async (
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
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const receipt = successEnvelope(upstreamEventReceipt).safeParse(await response.json().catch(() => undefined)).data;
  return receipt?.data.outcome === "ignored" ? "ignored" : response.status;
};

/** Keys' limits are the interface's; how much runs at a time is the AWS account's. */
const limits: DoctorCheck = async ({ target }) => {
  const rates = Object.entries(rateGroups).map(([group, limit]) => `${limit} (${group})`);
  const perKey = `each key may send ${rates.join(", ")} requests a minute`;
  if (target.isLocal) return { state: "skipped", found: `no concurrency limit here; ${perKey}` };
  const { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } = await accountLimit();
  const reserved = limit - unreserved;
  const found = `${limit} executions at a time in this account and region, ${reserved} of them reserved`;
  if (unreserved >= UNRESERVED_MIN) return ok(`${found}; ${perKey}`);
  return wrong(
    `only ${found}: more at a time are refused`,
    `Ask AWS for ${reserved + UNRESERVED_MIN} or more: Service Quotas, AWS Lambda, Concurrent executions`,
  );
};

const accountLimit = async (): Promise<z.output<typeof concurrency>> => {
  const lambda = new LambdaClient({ maxAttempts: 2 });
  try {
    return concurrency.parse((await lambda.send(new GetAccountSettingsCommand({}))).AccountLimit);
  } finally {
    lambda.destroy();
  }
};

const concurrency = z.object({ ConcurrentExecutions: z.int(), UnreservedConcurrentExecutions: z.int() });

const deadLetters: DoctorCheck = async ({ sqs, target }) => {
  const attribute = async (QueueUrl: string, name: "RedrivePolicy" | "ApproximateNumberOfMessages") =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [name] }))).Attributes?.[name];
  const { OUTCOMES_QUEUE_URL, DELIVERY_QUEUE_URL } = target.environment;
  const counts = await Promise.all(
    Object.entries({ status: OUTCOMES_QUEUE_URL, delivery: DELIVERY_QUEUE_URL }).map(async ([name, url]) => {
      const policy = redrivePolicy.parse(JSON.parse((await attribute(url, "RedrivePolicy")) ?? "{}"));
      const deadLettersUrl = new URL(policy.deadLetterTargetArn.split(":").at(-1) ?? "", url).href;
      return { name, count: Number((await attribute(deadLettersUrl, "ApproximateNumberOfMessages")) ?? 0) };
    }),
  );
  const full = counts.filter(({ count }) => count > 0).map(({ name, count }) => `${name}: ${count}`);
  if (full.length === 0) return ok("none");
  return wrong(full.join(", "), "Look into the logs of their function, mend it, redrive the queue");
};

const redrivePolicy = z.object({ deadLetterTargetArn: z.string() });

const stuck: DoctorCheck = async ({ ledger }) => {
  const range = { from: "0000", to: isoTime(ledger.clock() - STUCK_MS) };
  const { length } = await openTransactions(ledger, range);
  if (length === 0) return ok("none");
  return { state: "look", found: `${length} open for more than 15 minutes`, todo: "admin transactions list --stuck" };
};

const events: DoctorCheck = async ({ ledger }) => {
  const { length } = (await listEvents(ledger, "0000")).filter(({ state }) => state === "open");
  if (length === 0) return ok("none");
  return { state: "look", found: `${length} wait for a decision`, todo: "admin events list" };
};

/** All that doctor looks at, by the name that it is shown under. */
export const checks: Readonly<Record<string, DoctorCheck>> = {
  service,
  selling,
  "upstream key": upstreamKey,
  address,
  catalog,
  "upstream's webhook": webhook,
  limits,
  "dead letters": deadLetters,
  "stuck transactions": stuck,
  events,
};
