import { moneyText } from "../../shared/contract/values/money.ts";
import type { Answer } from "./protocol.ts";

/** What a client reported of one order under one reference, and what the ledger has of it at the end. */
export type Report = {
  /** The order's own. */
  readonly reference: string;
  readonly answer: Answer;
  readonly transaction:
    | { readonly reference: string; readonly status: "processing" | "success" | "failed" }
    | undefined;
};

/** What a customer ordered, with all that happened to it. */
export type Sale = {
  readonly name: string;
  readonly isDecided: boolean;
  readonly reports: readonly Report[];
  /** How often the upstream delivered something for it. */
  readonly deliveries: number;
  /** Of these, how often what the customer ordered. */
  readonly asOrdered: number;
};

type Scorecard = {
  readonly ordered: number;
  readonly delivered: number;
  readonly double: number;
  readonly lost: number;
  readonly wrongly_reported: number;
  /** A sentence for each that counts against the client. */
  readonly findings: readonly string[];
};

/** A scorecard, and how the run went. */
export type Run = Scorecard & {
  readonly seed: number;
  readonly seconds: number;
  /** Answers that an outcome is unknown. */
  readonly unknown: number;
  /** Orders placed again with another reference, after a failure. */
  readonly ordered_again: number;
  readonly client_kills: number;
  readonly service_kills: number;
  /** What the wallets paid, and what the upstream delivered. They differ only if the service is wrong. */
  readonly charged_naira: number;
  readonly delivered_naira: number;
  /** Requests by what the proxy did with them. */
  readonly faults: Readonly<Record<string, number>>;
};

const FINDINGS_MAX = 20;

export const scorecardOf = (sales: readonly Sale[]): Scorecard => {
  const double = sales.filter(({ deliveries }) => deliveries > 1);
  const lost = sales.filter(({ asOrdered }) => asOrdered === 0);
  const wrong = sales.flatMap((sale) =>
    sale.reports.flatMap((report) => {
      const why = contradiction(report, sale);
      return why === undefined ? [] : [`${report.reference} was reported as ${reportText(report)}, but ${why}`];
    }),
  );
  return {
    ordered: sales.length,
    delivered: sales.length - lost.length,
    double: double.length,
    lost: lost.length,
    wrongly_reported: wrong.length,
    findings: [
      ...double.map(({ name, deliveries }) => `${name} was delivered ${deliveries} times`),
      ...lost.map(
        ({ name, isDecided, deliveries }) =>
          `${name} was never delivered${deliveries > 0 ? " as ordered" : ""}${isDecided ? "" : ", and not decided"}`,
      ),
      ...wrong,
    ],
  };
};

export const conforms = ({ double, lost, wrongly_reported }: Scorecard): boolean =>
  double === 0 && lost === 0 && wrongly_reported === 0;

const reportText = ({ answer: { result, reference, error } }: Report): string =>
  [result, reference, error && `(${error})`].filter(Boolean).join(" ");

/** Why a report is wrong; undefined if it is right. */
const contradiction = ({ answer, transaction }: Report, { deliveries, asOrdered }: Sale): string | undefined => {
  if (answer.result === "success" && asOrdered === 0)
    return `${deliveries > 0 ? "something else" : "nothing"} was delivered`;
  if (answer.result === "failed" && transaction?.status === "success") return `${transaction.reference} was delivered`;
  if (answer.result === "processing" && transaction === undefined) return "there is no transaction";
  const named = answer.result === "unknown" ? undefined : answer.reference;
  if (named != null && named !== transaction?.reference)
    return `its transaction is ${transaction?.reference ?? "none"}`;
  return undefined;
};

/** What the command prints of a run, and how it ends. */
export const resultOf = (run: Run, { json }: { readonly json: boolean }) => ({
  text: json ? JSON.stringify({ conforms: conforms(run), ...run }) : scorecardText(run),
  exitCode: conforms(run) ? 0 : 1,
});

const scorecardText = (run: Run): string => {
  const { ordered, delivered, double, lost, wrongly_reported, findings, faults } = run;
  const counts = { ordered, delivered, double, lost, "wrongly reported": wrongly_reported };
  const rows = Object.entries(counts).map(([name, count]) => `${name.padEnd(18)}${String(count).padStart(6)}`);
  const listed = findings.slice(0, FINDINGS_MAX).map((finding) => `  ${finding}`);
  const more = findings.length - listed.length;
  return [
    ...rows,
    "",
    `seed ${run.seed}, ${run.seconds} s; client killed ${run.client_kills} times, service ${run.service_kills} times`,
    `unknown ${run.unknown} times; ordered again with another reference ${run.ordered_again} times`,
    `charged ${moneyText(run.charged_naira)}, delivered ${moneyText(run.delivered_naira)}`,
    `requests: ${Object.entries(faults)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ")}`,
    "",
    ...listed,
    ...(more > 0 ? [`  and ${more} more`] : []),
    conforms(run) ? "The client conforms." : "The client does not conform to the retry rule of docs/clients.md.",
  ].join("\n");
};
