import type { RateGroup } from "../contract/limits.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import type { HttpRequest } from "./exchange.ts";
import { carriesReference, type OrderKind, type requestFields, translated, type UpstreamProfile } from "./profile.ts";
import { type Beginning, type IdentityCheck, type OrderField, orderFields, type UpstreamOrder } from "./upstream.ts";

const ORDER_RESPONSE_BYTES_MAX = 1_048_576;
/** An advanced record contains a photo. Lambda limits our own response to 6 MB. */
const CHECK_RESPONSE_BYTES_MAX = 5_767_168;
const CATALOG_BYTES_MAX = 8_388_608;

export type UpstreamRequest = {
  readonly group: RateGroup;
  readonly path: string;
  readonly body?: Readonly<Record<string, Value>>;
  readonly bytesMax: number;
  readonly beginning?: Beginning | undefined;
  /** Not every upstream answers it: a 403 says nothing about the key. */
  readonly isQuestion?: true;
};
/** The request as it is sent with a key. */
export const httpRequest = (
  baseUrl: string,
  { key: { header, prefix } }: UpstreamProfile,
  { path, body }: UpstreamRequest,
  key: string,
): HttpRequest => ({
  method: body === undefined ? "GET" : "POST",
  url: `${baseUrl}${path}`,
  headers: {
    [header]: `${prefix}${key}`,
    accept: "application/json",
    // Without it a server may compress. Source: RFC 9110, 12.5.3.
    "accept-encoding": "identity",
    ...(body && { "content-type": "application/json" }),
  },
  ...(body && { body: JSON.stringify(body) }),
});

export const groupOf = (request: UpstreamOrder | IdentityCheck): RateGroup =>
  request.kind === "identity" ? "identity" : "vtu";

export const catalogRequest = ({ paths }: UpstreamProfile): UpstreamRequest => ({
  group: "catalog",
  path: paths.catalog,
  bytesMax: CATALOG_BYTES_MAX,
});

/** An order's request, with its fields that the upstream may refuse. */
export type OrderRequest = UpstreamRequest & { readonly fields: readonly OrderField[] };
type Value = string | number | boolean;
type OrderValues<Kind extends OrderKind> = Partial<Readonly<Record<(typeof requestFields)[Kind][number], Value>>>;

/** The request in the upstream's names, with our reference where the upstream takes one. */
const requestOf = <Kind extends OrderKind>(
  profile: UpstreamProfile,
  kind: Kind,
  values: OrderValues<Kind>,
  reference: string,
): Pick<OrderRequest, "path" | "body" | "fields"> => {
  const sent: Partial<Record<string, Value>> = { ...values, ...(carriesReference(profile, kind) && { reference }) };
  const body: Record<string, Value> = {};
  for (const [field, name] of Object.entries(profile.fields)) {
    const value = sent[field];
    if (value !== undefined) body[name] = value;
  }
  return {
    path: profile.paths[kind],
    body,
    fields: orderFields.filter((field) => Object.hasOwn(values, field)),
  };
};

export const orderRequest = (profile: UpstreamProfile, order: UpstreamOrder, reference: string): OrderRequest => {
  const request = { group: groupOf(order), bytesMax: ORDER_RESPONSE_BYTES_MAX };
  const phone_number = order.phoneNumber;
  if (order.kind === "airtime") {
    const network = translated(profile.networks, order.network);
    const values = { network, amount: nairaFromKobo(order.amountKobo), phone_number };
    return { ...request, ...requestOf(profile, "airtime", values, reference) };
  }
  const values = { network_id: order.networkId, plan_id: order.planId, phone_number };
  return { ...request, ...requestOf(profile, "data", values, reference) };
};

export const checkRequest = (
  profile: UpstreamProfile,
  { idType, by, ...check }: IdentityCheck,
  reference: string,
): OrderRequest => {
  const request = { group: groupOf({ idType, by, ...check }), bytesMax: CHECK_RESPONSE_BYTES_MAX };
  if ("phoneNumber" in by) {
    const values = { phone_number: by.phoneNumber, is_consent: true };
    return { ...request, ...requestOf(profile, `${idType}_retrieval`, values, reference) };
  }
  const values = { [idType]: by.number, mode: by.mode, is_consent: true };
  return { ...request, ...requestOf(profile, `${idType}_verification`, values, reference) };
};
