import type { Command } from "commander";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import {
  erasure,
  requestReason,
  type SubjectKind,
  subjectKind,
  subjectNumberOf,
  subjectsActions,
} from "../../../shared/contract/actions/subjects.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import type { Change } from "../changes.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { perform } from "../perform.ts";
import { readStdin } from "../stdin.ts";
import { fields, localTime, table } from "../views/print.ts";

const input = z.object({ kind: subjectKind, why: requestReason });
const options = [{ ...why, required: true as const }];
const texts = { kind: "nin, bvn or phone_number; the number itself is read from standard input" };

export const addCommands = (group: Command): void => {
  const numbers = new WeakMap<AdminContext, Promise<string>>();
  /** Standard input can be read once: for what an erasure would change, and for the erasure. */
  const numberOf = (context: AdminContext, kind: SubjectKind): Promise<string> => {
    const read = numbers.get(context) ?? readNumber(kind);
    numbers.set(context, read);
    return read;
  };
  addCommand(group, {
    usage: "report <kind>",
    summary: subjectsActions["subjects report"].summary,
    example: 'report nin --why "request 2026-014" < number.txt',
    ...{ options, texts, input },
    isAction: true,
    run: async (context, request) =>
      reportText(await readReport(context, request, await numberOf(context, request.kind)), context.timeZone),
  });
  addCommand(group, {
    usage: "erase <kind>",
    summary: subjectsActions["subjects erase"].summary,
    example: 'erase nin --why "request 2026-014" --dry-run < number.txt',
    ...{ options, texts, input },
    isAction: true,
    asks: true,
    changes: async (context, request) => ({
      changes: changesBy(await readReport(context, request, await numberOf(context, request.kind))),
    }),
    run: async (context, request) => {
      const number = await numberOf(context, request.kind);
      const pages = await Array.fromAsync(
        pagesOf((cursor) => perform(context, "subjects erase", { ...request, number, cursor })),
      );
      const last = pages.at(-1);
      if (last === undefined) throw new Error("An erasure has a page");
      const { checks, orders, open, until } = last;
      return erasureReport({ checks, orders, open, until }, context.timeZone);
    },
  });
};

type Erased = Omit<ActionOutput<"subjects erase">, "next_cursor">;

/** What an erasure did. The fields are named only if something was erased. */
const erasureReport = ({ checks, orders, open, until }: Erased, timeZone: string): Report => {
  const isErased = checks + orders > 0;
  const counts = fields({ checks, orders, open, until: localTime(until, timeZone) });
  const rows = erasure.map(({ field, result, because }) => [field, result, because]);
  const result = isErased ? "erased" : open > 0 ? "nothing_removed" : "nothing_found";
  const texts = {
    erased: table(["field", "what happens", "because"], rows),
    nothing_removed:
      "Nothing was removed: all that was found is open, or was changed at the same moment. Erase again later.",
    nothing_found: `Nothing was found by this number, and nothing was removed. ${LIMITS}`,
  };
  return {
    json: { result, checks, orders, open, until, fields: isErased ? erasure : [] },
    text: `${counts}\n\n${texts[result]}`,
  };
};

const readNumber = async (kind: SubjectKind): Promise<string> => {
  const number = subjectNumberOf(kind, await readStdin("The number"));
  if (number !== undefined) return number;
  throw new OperatorError("The number must be a NIN or BVN of 11 digits, or a Nigerian mobile number");
};

type SubjectReport = Omit<ActionOutput<"subjects report">, "next_cursor">;

const readReport = async (
  context: AdminContext,
  request: z.output<typeof input>,
  number: string,
): Promise<SubjectReport> => {
  const pages = await Array.fromAsync(
    pagesOf((cursor) => perform(context, "subjects report", { ...request, number, cursor })),
  );
  return {
    checks: pages.flatMap(({ checks }) => checks),
    orders: pages.flatMap(({ orders }) => orders),
    until: pages[0]?.until ?? "",
  };
};

const LIMITS =
  "Not found: what is newer (run it again in two minutes); orders whose number was masked; checks under an earlier identity key, or past consentRetentionDays; checks by another number of the person.";

const reportText = ({ checks, orders, until }: SubjectReport, timeZone: string): Report => {
  const checkRows = checks.map(({ evidence, ...check }) => [
    ...[
      localTime(check.created_at, timeZone),
      check.account_name,
      check.key_id,
      check.operation,
      check.extent,
      check.status,
    ],
    ...[check.purpose ?? "", evidence === null ? "" : `${evidence.method} ${evidence.id}`, check.reference],
  ]);
  const orderRows = orders.map((order) => [
    ...[
      localTime(order.created_at, timeZone),
      order.account_name,
      order.key_id,
      order.type,
      order.network ?? "",
      order.status,
    ],
    order.reference,
  ]);
  const tables = [
    ...(checks.length === 0
      ? []
      : [
          table(
            ["created", "account", "key", "operation", "extent", "status", "purpose", "evidence", "reference"],
            checkRows,
          ),
        ]),
    ...(orders.length === 0
      ? []
      : [table(["created", "account", "key", "type", "network", "status", "reference"], orderRows)]),
  ];
  const found = `${counted(checks.length, "check")} and ${counted(orders.length, "order")} until ${localTime(until, timeZone)}.`;
  return { json: { checks, orders, until, limits: LIMITS }, text: [...tables, `${found} ${LIMITS}`].join("\n\n") };
};

const changesBy = ({ checks, orders }: SubjectReport): readonly Change[] => [
  { what: "checks that are found by the number", before: String(checks.length), after: "none, but the open ones" },
  { what: "orders with the phone number", before: String(orders.length), after: "masked, but the open ones" },
];
