import {
  type CheckResult,
  type DoctorCheck,
  lookInto,
  ok,
  skipped,
  wrong,
} from "../../shared/actions/doctor-check-result.ts";
import {
  bookChecks,
  catalog,
  FORBIDDEN,
  orders,
  REFERENCE_KEY,
  referenceKey as referenceKeyHere,
  refusedOrder,
  selling,
  standingRefusals,
  upstreamAddress,
  upstreamKey as upstreamKeyByCatalog,
} from "../../shared/actions/doctor-checks.ts";
import { fetchCatalog } from "../../shared/catalog/refresh-catalog.ts";
import { successEnvelope } from "../../shared/contract/envelope.ts";
import type { ErrorCode } from "../../shared/contract/errors.ts";
import { headers } from "../../shared/contract/headers.ts";
import { upstreamEventReceipt } from "../../shared/contract/upstream-event.ts";
import { duration } from "../../shared/contract/values/durations.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { SECRET_ABSENCE_CACHE_MS, secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { httpUpstream } from "../../shared/upstream/http-upstream.ts";
import { upstreamKeyId, usableKeys } from "../../shared/upstream/key-pool.ts";
import { type EventSignature, parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { signatureOf } from "../../shared/upstream-events/upstream-signature.ts";
import { isDenied } from "../aws/with-client.ts";
import {
  accessLogs,
  alarmActions,
  alarms,
  auditCopy,
  auditPolicy,
  callerRanges,
  consumers,
  limits,
  tables,
} from "./aws-checks.ts";
import type { AdminContext } from "./context.ts";
import { perform } from "./perform.ts";
import { isSecretSet } from "./secret-state.ts";

const TIMEOUT_MS = 16_000;
/** The longest time until the functions see the first value of a secret. */
const FIRST_VALUE_DELAY = duration(SECRET_ABSENCE_CACHE_MS);

const service: DoctorCheck<AdminContext> = async ({ target }) => {
  const { status } = await fetch(`${target.baseUrl}/openapi.json`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (status === 200) return ok(`responds at ${target.baseUrl}`);
  return wrong(`responds ${status} at ${target.baseUrl}`, "Read the logs of the functions");
};

const upstreamKey: DoctorCheck<AdminContext> = async (context) => {
  const { UPSTREAM_KEY_SECRET_ID } = context.target.environment;
  if (!(await isSecretSet(context.secrets, UPSTREAM_KEY_SECRET_ID))) {
    if (!context.facts.sells) return skipped("is not set: the stage serves test keys only");
    return wrong("is not set", `Run secrets set upstream-key; the functions see it within ${FIRST_VALUE_DELAY}`);
  }
  if (!context.facts.sells) return skipped("is not used: the stage serves test keys only");
  // Keys are used from the fixed addresses only, so their values are not needed here.
  if (!context.target.isLocal) return upstreamKeyByCatalog(context);
  const keys = usableKeys((await secret(context.secrets, UPSTREAM_KEY_SECRET_ID).value()) ?? "");
  if (keys.length === 0) return wrong("holds no key that a header can hold", "Run secrets set upstream-key");
  const results = await Promise.all(
    keys.map(async (key) => ({ id: upstreamKeyId(key), result: await checkKey(context, key) })),
  );
  const result = ofAllKeys(results);
  // The key was accepted just now, but perhaps not for orders.
  const refusal = (await standingRefusals(context)).find(({ reason }) => reason === FORBIDDEN);
  return result.state !== "ok" || refusal === undefined ? result : refusedOrder(refusal, context.ledger.clock());
};

/** Reads the catalog with one key, which is free. */
const checkKey = async ({ target }: AdminContext, key: string): Promise<CheckResult> => {
  const { UPSTREAM_BASE_URL, UPSTREAM_PROFILE } = target.environment;
  const value = async () => key;
  const profile = parseUpstreamProfile(UPSTREAM_PROFILE);
  const upstream = httpUpstream({ baseUrl: UPSTREAM_BASE_URL, profile, liveKey: { value, refetch: value } });
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
    return wrong(`no response from the upstream (${answer})`, "Ask the upstream, and check its base URL");
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

const address: DoctorCheck<AdminContext> = async (context) => {
  if (!context.facts.sells) return skipped("the stage has no fixed addresses and serves test keys only");
  if (!context.target.isLocal) return upstreamAddress(context);
  return skipped("the local service calls the upstream from this machine's address");
};

/** The service answers for its own key: a key that only reads the ledger could name the callers' references. */
const referenceKey: DoctorCheck<AdminContext> = async (context) => {
  if (context.isDirect) return referenceKeyHere(context);
  const { checks } = await perform(context, "doctor", {});
  const own = checks.find(({ check }) => check === REFERENCE_KEY);
  if (own === undefined) throw new Error(`The service did not check its ${REFERENCE_KEY}`);
  return own;
};

const webhook: DoctorCheck<AdminContext> = async (context) => {
  try {
    return await probeWebhook(context);
  } catch (error) {
    if (!isDenied(error)) throw error;
    return skipped("needs the permission to read its token, which only direct access has");
  }
};

/** Sends an event of an unknown type: it passes every check of receive-upstream-event and changes nothing. */
const probeWebhook: DoctorCheck<AdminContext> = async ({ target, secrets, facts }) => {
  const { WEBHOOK_TOKEN_SECRET_ID: tokenId, UPSTREAM_HMAC_SECRET_ID, UPSTREAM_PROFILE } = target.environment;
  const token = await secret(secrets, tokenId).value();
  if (token === undefined && !facts.sells) return skipped("has no path token: no upstream sends events");
  if (token === undefined)
    return wrong("has no path token: all events are refused", "Run secrets rotate webhook-token");
  const key = await secret(secrets, UPSTREAM_HMAC_SECRET_ID).value();
  const { signature: scheme } = parseUpstreamProfile(UPSTREAM_PROFILE);
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
      "Set signature in the stage's upstreamProfile and deploy",
    );
  }
  if (response === "ignored") return ok(`accepts ${signed ? "signed " : ""}events`);
  if (response === "other_address") return ok("takes events from the upstream's addresses only, and has this token");
  const before = await secret(secrets, tokenId, systemClock, "AWSPREVIOUS").value();
  if (response === 404 && before !== undefined && typeof (await postProbe(`${url}/${before}`, signed)) === "string") {
    return lookInto("accepts events at its old URL only", "Run doctor again in some seconds");
  }
  return wrong(
    `responds ${response} to an event`,
    "After a rotation, run doctor again in some seconds; else read the logs of receive-upstream-event",
  );
};

/** `other_address`: the token is right, and this machine is none of the addresses in `upstreamWebhookIps`. */
const postProbe = async (
  url: string,
  signed: { readonly scheme: EventSignature; readonly key: string } | undefined,
): Promise<number | "ignored" | "other_address"> => {
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
  const refusal: ErrorCode = "ip_not_whitelisted";
  if (response.headers.get(headers.errorCode) === refusal) return "other_address";
  const receipt = successEnvelope(upstreamEventReceipt).safeParse(await response.json().catch(() => undefined)).data;
  return receipt?.data.outcome === "ignored" ? "ignored" : response.status;
};

/** The checks by the names that doctor prints. */
export const doctorChecks: Readonly<Record<string, DoctorCheck<AdminContext>>> = {
  service,
  selling,
  "upstream key": upstreamKey,
  address,
  orders,
  catalog,
  [REFERENCE_KEY]: referenceKey,
  "upstream's webhook": webhook,
  limits,
  consumers,
  alarms,
  "alarm actions": alarmActions,
  "access logs": accessLogs,
  "callers' ranges": callerRanges,
  tables,
  "audit policy": auditPolicy,
  "audit copy": auditCopy,
  ...bookChecks,
};
