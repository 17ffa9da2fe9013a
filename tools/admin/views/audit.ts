import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { actorName, detailsText } from "../../../shared/ledger/audit.ts";
import { localTime, table } from "./print.ts";

/** With columns for the AWS identity, for the subject of who signed in to the console and for the address, if an entry has one. */
export const auditTable = (entries: ActionOutput<"audit account">["entries"], timeZone: string): string => {
  const hasIdentity = entries.some(({ caller_arn }) => caller_arn !== null);
  const hasAddress = entries.some(({ source_ip }) => source_ip !== null);
  const hasPerson = entries.some(({ person }) => person !== undefined);
  return table(
    [
      ...["at", "by", "action", "details", "why"],
      ...(hasIdentity ? ["AWS identity"] : []),
      ...(hasPerson ? ["console subject"] : []),
      ...(hasAddress ? ["from"] : []),
    ],
    entries.map(({ at, by, action, details, why, caller_arn, person, source_ip }) => [
      ...[localTime(at, timeZone), actorName({ by, person }), action, detailsText(details), why],
      ...(hasIdentity ? [caller_arn] : []),
      ...(hasPerson ? [person?.sub] : []),
      ...(hasAddress ? [source_ip] : []),
    ]),
  );
};
