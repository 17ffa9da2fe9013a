import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import {
  carriesReference,
  type OrderKind,
  PROFILE_LENGTH_MAX,
  parseUpstreamProfile,
  profileChanges,
  profileOf,
} from "../../../../shared/upstream/profile.ts";
import { checkRequest, orderRequest } from "../../../../shared/upstream/requests.ts";

const documentedProfile = profileOf({});

/** The sentence for a wrong profile, with the place of the mistake. */
const sentenceFor = (changes: unknown): string | undefined => {
  const [issue] = profileChanges.safeParse(changes).error?.issues ?? [];
  return issue && [issue.path.join("."), issue.message].filter((part) => part !== "").join(": ");
};

test("the documented profile sends to the paths of the document, with its header and its fields", () => {
  expect(documentedProfile).toMatchObject({
    reference: "documented",
    paths: {
      catalog: "/vtu/data",
      data: "/vtu/data/purchase",
      airtime: "/vtu/airtime/purchase",
      nin_verification: "/identity/nin/verify",
      nin_retrieval: "/identity/nin/retrieve",
      bvn_verification: "/identity/bvn/verify",
      bvn_retrieval: "/identity/bvn/retrieve",
    },
    key: { header: "authorization", prefix: "Bearer " },
    limits: { vtu: 60, identity: 30, catalog: 120 },
  });
});

test("by the document data purchases alone have our reference, and every kind has it if the profile says all", () => {
  const kinds = Object.keys(documentedProfile.paths).filter((kind): kind is OrderKind => kind !== "catalog");
  const withReference = (profile = documentedProfile) => kinds.filter((kind) => carriesReference(profile, kind));
  expect(withReference()).toEqual(["data"]);
  expect(withReference(profileOf({ reference: "all" }))).toEqual(kinds);
});

test("a function reads what the stage names, and the document's entries where it names nothing", () => {
  const changes = { reference: "all", key: { header: "X-API-KEY", prefix: "" }, networks: { T2: "9mobile" } };
  expect(parseUpstreamProfile(JSON.stringify(changes))).toEqual({
    ...documentedProfile,
    reference: "all",
    key: { header: "x-api-key", prefix: "" },
    networks: { t2: "9mobile" },
  });
  expect(parseUpstreamProfile("{}")).toEqual(documentedProfile);
});

test("an entry that a stage names has the document's value of each field that it does not name", () => {
  const named = { paths: {}, key: {}, fields: {}, answers: {}, statuses: {}, refusals: {}, events: {}, limits: {} };
  expect(profileOf(named)).toEqual(documentedProfile);
});

test.each<[unknown, string]>([
  [{ reference: "some" }, 'reference: The reference goes with "all" orders, or with those "documented"'],
  [{ paths: { airtime: "vtu/airtime" } }, "paths.airtime: A path begins with / and has letters, digits, dots"],
  [{ paths: { airtime: 1 } }, "paths.airtime: A path is text that begins with /"],
  [{ paths: { balance: "/x" } }, 'paths: Has the unknown field "balance"'],
  [{ key: { header: "X KEY" } }, "key.header: A header's name has letters, digits and hyphens only"],
  [{ key: { prefix: "Bearer\n" } }, "key.prefix: A prefix has at most 20 printable characters"],
  [{ fields: { nin: "n i n" } }, "fields.nin: A field's name begins with a letter"],
  [{ fields: { amount: "value", phone_number: "value" } }, "fields: Two fields of one request have the same name"],
  [{ fields: { reference: "mode" } }, "fields: Two fields of one request have the same name"],
  [{ answers: { reference: "status" } }, "answers: Two fields of an order have the same name"],
  [{ events: { type: "amount" } }, "events: Two fields of an order have the same name"],
  [{ lookup: { path: "/x", field: "id", status: "type" } }, "lookup: Two fields of an order have the same name"],
  [{ statuses: { failed: [] } }, "statuses.failed: Name a word at least"],
  [{ statuses: { failed: ["Success"] } }, "statuses: A word has one meaning only"],
  [{ refusals: { statuses: [500] } }, "refusals.statuses.0: Only 200 and 400 to 499 can refuse an order"],
  [{ refusals: { messages: [{ status: 500, message: "No" }] } }, "refusals.messages.0.message: A message that"],
  [{ events: { name: "a b" } }, "events.name: An event's name has letters, digits, dots, hyphens and _ only"],
  [{ events: { types: { topup: "credit" } } }, "events.types.topup: Must be one of data, airtime"],
  [{ signature: { header: "x-s", encoding: "base32" } }, "signature.encoding: The encoding must be hex or base64"],
  [{ signature: { header: "x-s", encoding: "hex", prefix: "v 1" } }, "signature.prefix: A prefix has at most 20"],
  [{ limits: { vtu: 0 } }, "limits.vtu: A limit is at least 1"],
  [{ limits: { vtu: 1.5 } }, "limits.vtu: A limit is a whole number of requests in a minute"],
  [{ dates: "year-first" }, "dates: Dates are day-first or month-first"],
  [{ virtual_nin: "yes" }, "virtual_nin: virtual_nin is true or false"],
  [{ balance: {} }, "balance.path: A path is text that begins with /"],
  [{ balance: { path: "/wallet", object: "a b" } }, "balance.object: A field's name begins with a letter"],
  [{ lookups: {} }, 'Has the unknown field "lookups"'],
  [{ lookup: {} }, "lookup.path: A path is text that begins with /"],
  [{ lookup: { path: "status/{reference}" } }, "lookup.path: A path begins with / and has letters, digits, dots"],
  [{ lookup: { path: "/a/{reference}/{reference}" } }, "lookup.path: A path begins with /"],
  [{ lookup: { path: "/status/{reference}", method: "PUT" } }, "lookup.method: A lookup is a GET or a POST"],
  [{ lookup: { path: "/status" } }, "lookup: The reference goes into the path, as {reference}, or into a field"],
  [{ lookup: { path: "/status/{reference}", field: "id" } }, "lookup: The reference goes into the path"],
  [{ lookup: { path: "/status/{reference}", method: "POST" } }, "lookup.field: A POST has the reference in a field"],
  [{ lookup: { path: "/status", field: "1d" } }, "lookup.field: A field's name begins with a letter"],
  [
    { lookup: { path: "/vtu/data/purchase/", method: "POST", field: "reference" } },
    "lookup.path: A lookup must not have the path of another request: it would place an order",
  ],
  [{ lookup: { path: "/x/../vtu/data/purchase", method: "POST", field: "id" } }, "lookup.path: A path has no part ."],
  [{ paths: { airtime: "/vtu/." } }, "paths.airtime: A path has no part . or .."],
  ["documented", "Must be an object"],
  [undefined, "Is required"],
])("the mistake in the profile %j is named with its place and a sentence", (changes, sentence) => {
  expect(sentenceFor(changes)).toContain(sentence);
});

test("fields of different requests may have one name, and each request has its own value in it", () => {
  const fields = { network_id: "network", nin: "number", bvn: "number" };
  expect(sentenceFor({ fields })).toBeUndefined();
  const profile = profileOf({ reference: "all", fields });
  const data = { kind: "data", networkId: 1, planId: 101, phoneNumber: "08031234567" } as const;
  expect(orderRequest(profile, data, "ref").body).toMatchObject({ network: 1, plan_id: 101 });
  const airtime = {
    kind: "airtime",
    network: "mtn",
    amountKobo: koboFromNaira(100),
    phoneNumber: "08031234567",
  } as const;
  expect(orderRequest(profile, airtime, "ref").body).toMatchObject({ network: "mtn", amount: 100 });
  const check = { kind: "identity", idType: "bvn", by: { number: "12345678901", mode: "basic" } } as const;
  expect(checkRequest(profile, check, "ref").body).toMatchObject({ number: "12345678901" });
});

test("two fields of one request may not have the same name, for each field that a request has", () => {
  const profile = profileOf({ reference: "all" });
  const phoneNumber = "08031234567";
  const number = "12345678901";
  const checksOf = (idType: "nin" | "bvn") =>
    [{ number, mode: "basic" } as const, { phoneNumber }].map(
      (by) => checkRequest(profile, { kind: "identity", idType, by }, "ref").body,
    );
  const airtime = { kind: "airtime", network: "mtn", amountKobo: koboFromNaira(100), phoneNumber } as const;
  const bodies = [
    orderRequest(profile, { kind: "data", networkId: 1, planId: 101, phoneNumber }, "ref").body,
    orderRequest(profile, airtime, "ref").body,
    ...checksOf("nin"),
    ...checksOf("bvn"),
  ];
  const pairs = bodies.flatMap((body) => {
    const names = Object.keys(JSON.parse(JSON.stringify(body)));
    return names.flatMap((one, index) => names.slice(index + 1).map((other) => ({ [one]: "x", [other]: "x" })));
  });
  expect(pairs).toHaveLength(30);
  expect(pairs.filter((fields) => sentenceFor({ fields }) === undefined)).toEqual([]);
});

test("a profile that is too long for a function's variables is refused", () => {
  const networks = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`network-${index + 100}`, "x"]));
  const { length } = JSON.stringify({ networks });
  expect(length).toBeGreaterThan(PROFILE_LENGTH_MAX);
  expect(sentenceFor({ networks })).toBe(
    `The profile has ${length} characters as JSON: functions can be given ${PROFILE_LENGTH_MAX}`,
  );
});

test("docs/upstream.md explains each entry of a profile", () => {
  const text = readFileSync("docs/upstream.md", "utf8");
  const entries = Object.keys(profileOf({ lookup: { path: "/orders/{reference}" }, balance: { path: "/wallet" } }));
  expect(entries).toContain("lookup");
  expect(entries.filter((entry) => !new RegExp(`^\\| \`${entry}[.\`]`, "m").test(text))).toEqual([]);
});
