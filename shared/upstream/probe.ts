import { randomUUID } from "node:crypto";
import * as z from "#zod";
import { koboFromNaira } from "../contract/values/money.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { balanceRequest, readBalance } from "./balance.ts";
import { classify, classifyCheck } from "./classify.ts";
import { bodyJson, type ExchangeResult, exchange } from "./exchange.ts";
import { isUsableKey, TEST_KEY_PREFIX } from "./key-pool.ts";
import { type FoundOrder, lookupRequest, readLookup } from "./lookup.ts";
import {
  type Case,
  type CaseAnswer,
  checkOf,
  ID_NUMBER,
  type Listed,
  PHONE_NUMBER,
  type ProbeCheck,
  resultOf,
  sentenceOf,
  type Variant,
} from "./probe-answer.ts";
import { conclusionOf, type ProbeReport } from "./probe-conclusion.ts";
import type { BalanceProfile, LookupProfile, OrderKind, UpstreamProfile } from "./profile.ts";
import { catalogRequest, checkRequest, httpRequest, type OrderRequest, orderRequest } from "./requests.ts";
import type { CheckOutcome, Outcome } from "./upstream.ts";

/** How long the upstream has for each request: three of them follow one another. */
const REQUEST_MS = 8_000;
const AIRTIME_NAIRA = 100;
const ADDITIONAL_FIELD = "probe";

export type ProbeAccess = { readonly baseUrl: string; readonly profile: UpstreamProfile; readonly testKey: string };

/**
 * Finds out, with a test key, what the upstream accepts: the catalog, one order of each kind with and without our
 * reference, a wrong one, a repeated reference, and an additional field; the lookup and the balance, if the profile has
 * them. Test orders are simulated and free of charge (docs/interface.md 3.1).
 */
export const probeUpstream = async (access: ProbeAccess): Promise<ProbeReport> => {
  const { testKey } = access;
  if (!testKey.startsWith(TEST_KEY_PREFIX) || !isUsableKey(testKey)) {
    throw new OperatorError(`The probe needs a test key, which begins with ${TEST_KEY_PREFIX}. Nothing was sent`);
  }
  const catalog = await ask(access, catalogRequest(access.profile));
  const listed = readCatalog(catalog);
  const answering = casesOf(access.profile, listed).map((each) => answerOf(access, each));
  const [answers, reads] = await Promise.all([
    Promise.all(answering),
    listed === undefined ? [] : readsOf(access, answering[0]),
  ]);
  const { findings, ...conclusion } = conclusionOf(access.profile, catalog, listed, answers);
  return {
    checks: [catalogCheck(catalog, listed), ...answers.map(({ check }) => check), ...reads.map(({ check }) => check)],
    findings: [
      ...findings,
      ...reads.flatMap(({ finding, check }) => (finding ? [`${finding}: ${sentenceOf(check)}`] : [])),
    ],
    ...conclusion,
  };
};

/** A check that places no order. */
type Read = { readonly check: ProbeCheck; readonly finding?: string | undefined };

/** Asks what the profile describes: for the first order, for an unused reference, and for the balance. */
const readsOf = async (access: ProbeAccess, first: Promise<CaseAnswer> | undefined): Promise<readonly Read[]> => {
  const { lookup, balance } = access.profile;
  const reads = await Promise.all([
    lookup && first?.then((bought) => boughtRead(access, lookup, bought)),
    lookup && unknownRead(access, lookup),
    balance && balanceRead(access, balance),
  ]);
  return reads.flatMap((read) => read ?? []);
};

const lookUp = async (access: ProbeAccess, lookup: LookupProfile, reference: string) => {
  const request = lookupRequest(lookup, reference);
  const result = request
    ? await ask(access, request)
    : ({ kind: "never_sent", reason: "reference_not_sendable" } as const);
  return { result, answer: readLookup(access.profile, lookup, result) };
};

/** Asks for the order by our reference, which the upstream documents for data purchases. */
const boughtRead = async (
  access: ProbeAccess,
  lookup: LookupProfile,
  bought: CaseAnswer,
): Promise<Read | undefined> => {
  if (resultOf(bought.outcome) !== "accepted") return undefined;
  const reference = String(bought.request.body?.[access.profile.fields.reference]);
  const { result, answer } = await lookUp(access, lookup, reference);
  const check = checkOf(
    "lookup of the data order",
    result,
    answer.kind === "found" ? "accepted" : "unclear",
    answer.kind,
  );
  if (answer.kind !== "found") return { check, finding: "An order cannot be looked up by our reference" };
  const wrong = Object.entries(fitsOf(lookup, bought, reference, answer.order)).filter(([, fits]) => !fits);
  const fields = wrong.map(([field]) => field).join(", ");
  return { check, finding: fields && `The answer to a lookup lacks ${fields}, or has another value` };
};

const fitsOf = (lookup: LookupProfile, { outcome }: CaseAnswer, reference: string, order: FoundOrder) => ({
  reference: order.reference !== undefined,
  ...(lookup.our_reference !== undefined && { our_reference: order.ourReference === reference }),
  status: order.status !== undefined || outcome.kind !== "delivered",
  amount: order.amountKobo !== undefined,
  type: order.type === "data",
  phone_number: order.phoneNumber === PHONE_NUMBER,
});

/** An upstream that ignores the parameter answers with another order. */
const unknownRead = async (access: ProbeAccess, lookup: LookupProfile): Promise<Read> => {
  const { result, answer } = await lookUp(access, lookup, newReference());
  const isNotFound = answer.kind === "not_found";
  const check = checkOf("lookup of an unknown reference", result, isNotFound ? "refused" : "unclear", answer.kind);
  return { check, finding: isNotFound ? undefined : "A lookup of an unknown reference is not answered as not found" };
};

const balanceRead = async (access: ProbeAccess, balance: BalanceProfile): Promise<Read> => {
  const result = await ask(access, balanceRequest(balance));
  const answer = readBalance(balance, result);
  const isRead = answer.kind === "read";
  const check = checkOf("balance", result, isRead ? "accepted" : "unclear", isRead ? "an amount" : answer.reason);
  return { check, finding: isRead ? undefined : "The balance cannot be read" };
};

const newReference = (): string => `TEST_${randomUUID().replaceAll("-", "").slice(0, 26).toUpperCase()}`;

/** The cheapest plan of the catalog, and its network. */
const readCatalog = (result: ExchangeResult): Listed | undefined => {
  const plans = result.kind === "answered" ? sentCatalog.safeParse(bodyJson(result.body)).data : undefined;
  if (plans === undefined) return undefined;
  const { networks, data_plans } = plans.data;
  const [plan] = data_plans.toSorted((one, other) => one.price - other.price);
  const network = networks.find(({ id }) => id === plan?.network_id);
  return plan && network && { networkId: network.id, planId: plan.id, network: network.code.toLowerCase() };
};
const sentCatalog = z.object({
  data: z.object({
    networks: z.array(z.object({ id: z.coerce.number(), code: z.string() })),
    data_plans: z.array(z.object({ id: z.coerce.number(), network_id: z.coerce.number(), price: z.coerce.number() })),
  }),
});

const titles: Readonly<Record<Variant, string>> = {
  right: "",
  referenced: " with our reference",
  wrong: " with a wrong number",
  additional: " with an additional field",
  repeated: " with a reference that was used",
};

/** The requests as the document shows them: our reference belongs to the right order of data purchases only. */
const casesOf = (profile: UpstreamProfile, listed: Listed | undefined): readonly Case[] => {
  const documented = { ...profile, reference: "documented" } as const;
  const requestOf = (kind: OrderKind, within: UpstreamProfile, isWrong = false): OrderRequest | undefined => {
    const reference = newReference();
    const phoneNumber = isWrong ? PHONE_NUMBER.slice(0, 3) : PHONE_NUMBER;
    if (kind === "data") {
      return listed && orderRequest(within, { kind, ...listed, phoneNumber }, reference);
    }
    if (kind === "airtime") {
      const amountKobo = koboFromNaira(AIRTIME_NAIRA);
      return listed && orderRequest(within, { kind, network: listed.network, amountKobo, phoneNumber }, reference);
    }
    const idType = kind.startsWith("nin") ? "nin" : "bvn";
    const number = isWrong ? ID_NUMBER.slice(0, 3) : ID_NUMBER;
    const by = kind.endsWith("retrieval") ? { phoneNumber } : ({ number, mode: "basic" } as const);
    return checkRequest(within, { kind: "identity", idType, by }, reference);
  };
  const kinds = ["data", "airtime", "nin_verification", "bvn_verification", "nin_retrieval", "bvn_retrieval"] as const;
  return kinds.flatMap((kind) => {
    const right = requestOf(kind, documented);
    const wrong = requestOf(kind, documented, true);
    const referenced = kind === "data" ? undefined : requestOf(kind, { ...profile, reference: "all" });
    const additional = kind === "data" ? right && requestOf(kind, documented) : undefined;
    return [
      right && { kind, variant: "right" as const, request: right },
      referenced && { kind, variant: "referenced" as const, request: referenced },
      wrong && { kind, variant: "wrong" as const, request: wrong },
      additional && {
        ...{ kind, variant: "additional" as const },
        request: { ...additional, body: { ...additional.body, [ADDITIONAL_FIELD]: "1" } },
      },
      // It is sent twice.
      kind === "data" && right
        ? { kind, variant: "repeated" as const, request: requestOf(kind, documented) ?? right }
        : undefined,
    ].flatMap((each) => each ?? []);
  });
};

const answerOf = async (access: ProbeAccess, each: Case): Promise<CaseAnswer> => {
  const { kind, variant, request } = each;
  const outcomeOf = (result: ExchangeResult): Outcome | CheckOutcome =>
    (request.group === "identity" ? classifyCheck : classify)(access.profile, result, request.fields);
  const first = variant === "repeated" ? outcomeOf(await ask(access, request)) : undefined;
  const result = await ask(access, request);
  const outcome = outcomeOf(result);
  const check = orderCheck(`${kind.replace("_", " ")}${titles[variant]}`, result, outcome);
  return { ...each, check, result, outcome, ...(first && { first }) };
};

const ask = ({ baseUrl, profile, testKey }: ProbeAccess, request: Parameters<typeof httpRequest>[2]) =>
  exchange(httpRequest(baseUrl, profile, request, testKey), { totalMs: REQUEST_MS, bytesMax: request.bytesMax });

const catalogCheck = (result: ExchangeResult, listed: Listed | undefined): ProbeCheck =>
  listed === undefined
    ? checkOf("catalog", result, "unclear", "no plan can be read")
    : checkOf("catalog", result, "accepted", "plans can be read");

const orderCheck = (request: string, result: ExchangeResult, outcome: Outcome | CheckOutcome): ProbeCheck => {
  const taken = "reason" in outcome ? `${outcome.kind}: ${outcome.reason}` : outcome.kind;
  return checkOf(request, result, resultOf(outcome), taken);
};
