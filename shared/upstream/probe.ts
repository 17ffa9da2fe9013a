import { randomUUID } from "node:crypto";
import * as z from "#zod";
import { koboFromNaira } from "../contract/money.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { balanceRequest, readBalance } from "./balance.ts";
import { classify, classifyCheck, DUPLICATE_REFERENCE, sentFields } from "./classify.ts";
import { bodyJson, type ExchangeResult, exchange } from "./exchange.ts";
import { isUsableKey, TEST_KEY_PREFIX } from "./key-pool.ts";
import { type FoundOrder, lookupRequest, readLookup } from "./lookup.ts";
import {
  type BalanceProfile,
  type LookupProfile,
  type OrderKind,
  type ProfileChanges,
  profileOf,
  type UpstreamProfile,
} from "./profile.ts";
import { catalogRequest, checkRequest, httpRequest, type OrderRequest, orderRequest } from "./requests.ts";
import type { CheckOutcome, Outcome } from "./upstream.ts";

/** How long the upstream has for each request: three of them follow one another. */
const REQUEST_MS = 8_000;
const PHONE_NUMBER = "08031234567";
const ID_NUMBER = "12345678901";
const AIRTIME_NAIRA = 100;
const ADDITIONAL_FIELD = "probe";
const MESSAGE_LENGTH_MAX = 120;

export type ProbeAccess = { readonly baseUrl: string; readonly profile: UpstreamProfile; readonly testKey: string };

/** One request of the probe, and what the upstream did with it. */
export type ProbeCheck = {
  readonly request: string;
  readonly result: "accepted" | "refused" | "unclear";
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** How the service takes the answer, and the upstream's own message. */
  readonly answer: string;
};

export type ProbeReport = {
  readonly checks: readonly ProbeCheck[];
  /** What is not as the profile says, or as the service needs it. */
  readonly findings: readonly string[];
  /** The entries of the profile that the answers speak for; absent if they say too little. */
  readonly proposed?: ProfileChanges;
};

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

type Listed = { readonly networkId: number; readonly planId: number; readonly network: string };

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

const variants = ["right", "referenced", "wrong", "additional", "repeated"] as const;
type Variant = (typeof variants)[number];
type Case = { readonly kind: OrderKind; readonly variant: Variant; readonly request: OrderRequest };

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

type CaseAnswer = Case & {
  readonly check: ProbeCheck;
  readonly result: ExchangeResult;
  readonly outcome: Outcome | CheckOutcome;
  /** The outcome of the first copy, of a repeated order. */
  readonly first?: Outcome | CheckOutcome;
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

const checkOf = (request: string, sent: ExchangeResult, result: ProbeCheck["result"], taken: string): ProbeCheck => ({
  request,
  result,
  status: sent.kind === "answered" ? sent.status : null,
  answer: describe(sent, taken),
});

const resultOf = (outcome: Outcome | CheckOutcome): ProbeCheck["result"] => {
  if (outcome.kind === "delivered" || outcome.kind === "found" || outcome.kind === "no_record") return "accepted";
  if (outcome.kind === "unknown") {
    if (outcome.reason === "processing") return "accepted";
    return outcome.reason === DUPLICATE_REFERENCE ? "refused" : "unclear";
  }
  return "refused";
};

/** The upstream's own message is data of test mode. */
const describe = (result: ExchangeResult, taken: string): string => {
  if (result.kind !== "answered") return taken;
  const message = envelopeOf(result).message ?? "";
  const printable = message.replaceAll(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, "").slice(0, MESSAGE_LENGTH_MAX);
  return printable === "" ? taken : `${taken} ("${printable}")`;
};

const envelope = z.object({
  status: z.catch(z.optional(z.boolean()), undefined),
  message: z.catch(z.optional(z.string()), undefined),
  data: z.catch(sentFields, {}),
});
const envelopeOf = (result: ExchangeResult): Partial<z.infer<typeof envelope>> =>
  (result.kind === "answered" ? envelope.safeParse(bodyJson(result.body)).data : undefined) ?? {};

/** What the answers say about the profile. */
const conclusionOf = (
  profile: UpstreamProfile,
  catalog: ExchangeResult,
  listed: Listed | undefined,
  answers: readonly CaseAnswer[],
): Pick<ProbeReport, "findings" | "proposed"> => {
  const of = (variant: Variant): readonly CaseAnswer[] => answers.filter((each) => each.variant === variant);
  const isAccepted = ({ outcome }: CaseAnswer): boolean => resultOf(outcome) === "accepted";
  if (listed === undefined) {
    const findings = [`The catalog cannot be read: ${catalogProblem(catalog)}. No other answer counts`];
    return { findings };
  }
  const right = of("right");
  const refusedRight = right.filter((each) => !isAccepted(each));
  const referenced = of("referenced").filter(({ kind }) =>
    right.some((each) => each.kind === kind && isAccepted(each)),
  );
  const withoutIt = referenced.filter((each) => !isAccepted(each));
  const isSure = refusedRight.length === 0;
  const reference = withoutIt.length === 0 ? "all" : "documented";
  const wrong = of("wrong");
  const [repeated] = of("repeated");
  const limits = statedLimits(answers, catalog);
  const otherLimits = Object.entries(limits).filter(([group, limit]) => limitOf(profile, group) !== limit);
  const findings = [
    ...refusedRight.map(({ check }) => `A right order is not accepted: ${sentenceOf(check)}`),
    ...(profile.reference === "all"
      ? withoutIt.map(({ check }) => `Our reference is not accepted: ${sentenceOf(check)}`)
      : []),
    ...(isSure && reference !== profile.reference
      ? [`The profile's reference is "${profile.reference}", and "${reference}" fits`]
      : []),
    ...wrong.filter(isAccepted).map(({ check }) => `A wrong order is accepted: ${sentenceOf(check)}`),
    ...wrong
      .filter(({ check }) => check.result === "unclear")
      .map(
        ({ check }) =>
          `A refusal is not recognised, so such an order would stay open: ${sentenceOf(check)}. If the upstream confirms that it is one, name status and message in refusals.messages`,
      ),
    ...(repeated?.first !== undefined ? repetitionFindings(repeated, repeated.first) : []),
    ...right
      .filter(({ outcome }) => isMadeOfNumber(outcome.upstreamReference))
      .map(
        ({ check }) =>
          `The upstream makes its reference of the number: ${sentenceOf(check)}. The books keep it, also after an erasure`,
      ),
    ...unknownWords(profile, answers).map((word) => `The status "${word}" has no meaning in the profile's statuses`),
    ...otherLimits.map(
      ([group, limit]) => `The limit of ${group} is ${limit} a minute, and the profile says ${limitOf(profile, group)}`,
    ),
  ];
  const documented = profileOf({});
  const changedLimits = Object.fromEntries(
    Object.entries(limits).filter(([group, limit]) => limitOf(documented, group) !== limit),
  );
  if (!isSure) return { findings };
  return { findings, proposed: { reference, ...(Object.keys(changedLimits).length > 0 && { limits: changedLimits }) } };
};

const sentenceOf = ({ request, status, answer }: ProbeCheck): string =>
  `${request}, ${status ?? "no answer"}, ${answer}`;

const catalogProblem = (result: ExchangeResult): string => {
  if (result.kind !== "answered") return `no answer came (${result.reason})`;
  if (result.status === 401) return "the upstream refuses the test key (401)";
  if (result.status === 403) return "the upstream refuses the key or our address (403)";
  return envelopeOf(result).status === undefined
    ? `the answer (${result.status}) is not the upstream's own: check the base URL and paths.catalog`
    : `the answer has the status ${result.status} and no plans`;
};

const isMadeOfNumber = (reference = ""): boolean =>
  [PHONE_NUMBER.slice(1), ID_NUMBER].some((number) => reference.includes(number));

/** An order that is repeated must be refused, or answered with the first one. */
const repetitionFindings = ({ outcome, check }: CaseAnswer, first: Outcome | CheckOutcome): readonly string[] => {
  if (resultOf(first) !== "accepted" || resultOf(outcome) !== "accepted") return [];
  const isSame = outcome.upstreamReference !== undefined && outcome.upstreamReference === first.upstreamReference;
  return isSame ? [] : [`The upstream takes a reference twice, so it does not recognise a copy: ${sentenceOf(check)}`];
};

/** Words in the place of a transaction's status that the profile does not name. */
const unknownWords = (
  { answers: names, statuses }: UpstreamProfile,
  answers: readonly CaseAnswer[],
): readonly string[] => {
  const words = answers.flatMap(({ result }) => {
    const transaction = sentFields.safeParse(envelopeOf(result).data?.[names.transaction]).data;
    const status = transaction?.[names.status];
    return typeof status === "string" && /^[A-Za-z][\w-]{0,29}$/.test(status) ? [status.toLowerCase()] : [];
  });
  return [...new Set(words)].filter((word) => !Object.values(statuses).flat().includes(word));
};

/** The limits that answers state, by rate group. */
const statedLimits = (answers: readonly CaseAnswer[], catalog: ExchangeResult): Readonly<Record<string, number>> => {
  const stated = [
    ...answers.map(({ request, result }) => [request.group, result] as const),
    ["catalog", catalog] as const,
  ];
  return Object.fromEntries(
    stated.flatMap(([group, result]) => {
      const text = result.kind === "answered" ? result.headers["x-ratelimit-limit"] : undefined;
      return text !== undefined && /^[1-9]\d{0,5}$/.test(text) ? [[group, Number(text)]] : [];
    }),
  );
};

const limitOf = ({ limits }: UpstreamProfile, group: string): number | undefined =>
  new Map<string, number>(Object.entries(limits)).get(group);
