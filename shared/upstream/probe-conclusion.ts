import { sentFields } from "./classify.ts";
import type { ExchangeResult } from "./exchange.ts";
import {
  type CaseAnswer,
  envelopeOf,
  ID_NUMBER,
  type Listed,
  PHONE_NUMBER,
  type ProbeCheck,
  resultOf,
  sentenceOf,
  type Variant,
} from "./probe-answer.ts";
import { type ProfileChanges, profileOf, type UpstreamProfile } from "./profile.ts";
import type { CheckOutcome, Outcome } from "./upstream.ts";

export type ProbeReport = {
  readonly checks: readonly ProbeCheck[];
  /** What is not as the profile says, or as the service needs it. */
  readonly findings: readonly string[];
  /** The entries of the profile that the answers speak for; absent if they say too little. */
  readonly proposed?: ProfileChanges;
};

/** What the answers say about the profile. */
export const conclusionOf = (
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
