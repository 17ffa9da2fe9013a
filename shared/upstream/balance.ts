import { type Kobo, koboFromSentNaira } from "../contract/values/money.ts";
import { responseBody, sentFields } from "./classify.ts";
import { bodyJson, type ExchangeResult } from "./exchange.ts";
import type { BalanceProfile } from "./profile.ts";
import type { UpstreamRequest } from "./requests.ts";

const BALANCE_BYTES_MAX = 65_536;

/** It counts with other reads, so that it never takes what orders need of a key's limit. */
export const balanceRequest = ({ path }: BalanceProfile): UpstreamRequest => ({
  group: "catalog",
  path,
  bytesMax: BALANCE_BYTES_MAX,
  isQuestion: true,
});

export type BalanceAnswer =
  | { readonly kind: "read"; readonly balanceKobo: Kobo }
  | { readonly kind: "unclear"; readonly reason: string };

/** Only an envelope that reports success says what the balance is. */
export const readBalance = ({ object, field }: BalanceProfile, result: ExchangeResult): BalanceAnswer => {
  if (result.kind !== "answered") return { kind: "unclear", reason: result.reason };
  const body = responseBody.safeParse(bodyJson(result.body)).data;
  if (result.status !== 200 || body?.status !== true) return { kind: "unclear", reason: `status_${result.status}` };
  const fields = object === undefined ? body.data : sentFields.safeParse(body.data[object]).data;
  const balanceKobo = koboFromSentNaira(fields?.[field]);
  return balanceKobo === undefined ? { kind: "unclear", reason: "no_amount" } : { kind: "read", balanceKobo };
};
