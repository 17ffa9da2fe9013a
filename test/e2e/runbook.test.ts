import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { hashApiKey } from "../../shared/access/api-key.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { adjustWallet } from "../../shared/ledger/ledger-entry.ts";
import { recipientPk } from "../../shared/ledger/schema.ts";
import type { Recipient } from "../../shared/notifications/recipient.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { listEvents, recordEvent, storedEventId } from "../../shared/upstream-events/stored-event.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { anOldAccount, CLOSED_MONTH, changeFunding } from "../builders/ledger/old-account.ts";
import { eventually } from "../builders/run/eventually.ts";
import { ageTransaction, ageWallet, type OperatedService, startOperatedService } from "../builders/service/admin.ts";
import { documentSections, type Names, runDocumentCommand } from "../builders/service/document-commands.ts";
import { type Receiver, startReceiver } from "../builders/webhooks/receiver.ts";

/**
 * Goal: every command of docs/runbook.md and docs/onboarding.md works in the situation of its section. Method: each
 * section's situation is created on a running service; its commands are run as written, with `<names>` replaced by values
 * of the situation or of earlier results.
 */
let service: OperatedService;
let receiver: Receiver;
let isEndpointDown = false;
beforeAll(async () => {
  service = await startOperatedService();
  receiver = await startReceiver((response) => void response.writeHead(isEndpointDown ? 410 : 200).end());
});
afterAll(async () => {
  await Promise.all([service.stop(), receiver.stop()]);
});

/** A caller, and its purchases. */
const newCaller = async () => {
  const { account, key } = await service.newApp();
  return { account, key, buy: (phoneNumber: string) => service.buy(key, phoneNumber) };
};

const lastUpstreamReference = (): string => service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";

const requireEventId = async (upstreamReference: string): Promise<string> => {
  const found = (await listEvents(service.ledger, "0000")).find(({ reference }) => reference === upstreamReference);
  if (found === undefined) throw new Error(`No event about ${upstreamReference} was stored`);
  return storedEventId(found);
};

/** What happens before the first command of a section, and before its further code blocks by their position. */
type Situation = {
  readonly begin: () => Promise<Names>;
  readonly before?: Readonly<Record<number, () => Promise<void>>>;
};

const newEndpoint: Situation = { begin: async () => ({ url: receiver.url }) };

const stuckPurchase: Situation = {
  begin: async () => {
    const { account, buy } = await newCaller();
    return { account, reference: (await buy("08000000004")).reference };
  },
};

const unmatchedEvent: Situation = {
  begin: async () => {
    const { account, buy } = await newCaller();
    const { reference } = await buy("08000000001");
    const upstreamReference = lastUpstreamReference();
    const event = { kind: "event", mode: "live", status: "success", type: "airtime" } as const;
    const received = {
      received_at: isoTime(Date.now()),
      reference: upstreamReference,
      amount_kobo: koboFromNaira(500),
    };
    await recordEvent(service.ledger, { ...event, ...received }, "several_candidates");
    await ageTransaction(service, reference);
    return { account, reference, event: await requireEventId(upstreamReference) };
  },
};

/** A delivered purchase whose event reports another status. */
const eventAfterSuccess = (status: string): Situation => ({
  begin: async () => {
    const { account, buy } = await newCaller();
    const { reference } = await buy("08031234567");
    await service.controlSimulator("POST", "events", { reference, status });
    const event = await eventually(() => requireEventId(lastUpstreamReference()));
    return { account, reference, event };
  },
});

const endpointDown: Situation = {
  begin: async () => {
    const from = isoTime(Date.now() - 1_000);
    const { account, buy } = await newCaller();
    await service.adminJson(["webhook", "set", account, receiver.url]);
    isEndpointDown = true;
    const { reference } = await buy("08031234567");
    const state = z.object({ status: z.string() });
    await eventually(async () =>
      expect(state.parse(await service.adminJson(["webhook", "show", account])).status).toBe("off"),
    );
    return { account, reference, from };
  },
  before: {
    1: async () => {
      isEndpointDown = false;
    },
  },
};

const notifiedPerson: Situation = {
  begin: async () => {
    const email = { address: "ada@example.com", kinds: ["wallet.low" as const] };
    const at = isoTime(Date.now());
    const person = { pk: recipientPk("ada"), by: "ada@example.com", version: 1, created_at: at };
    const Item: Recipient = { ...person, email, list_key: "recipients" };
    await service.ledger.db.put({ TableName: service.ledger.table, Item });
    return { person: person.by };
  },
};

const leakedKey: Situation = {
  begin: async () => {
    const { key, buy } = await newCaller();
    await buy("08031234567");
    writeFileSync(join(service.folder, "leaked-key.txt"), key);
    return {};
  },
};

const emptyUpstream: Situation = {
  begin: async () => {
    const { account, buy } = await newCaller();
    await service.controlSimulator("PUT", "wallet", { balance_kobo: 0 });
    expect((await buy("08031234567")).status).toBe(502);
    await service.controlSimulator("PUT", "wallet", { balance_kobo: 100_000_00 });
    expect((await buy("08031234567")).status).toBe(200);
    return { account };
  },
};

const unrecognizedAnswer: Situation = {
  begin: async () => {
    const { buy } = await newCaller();
    const page = { kind: "custom", path: "/vtu/", status: 404, body: "<html></html>", times: 1 };
    await service.controlSimulator("PUT", "faults", { faults: [page] });
    const { reference } = await buy("08031234567");
    // The upstream answers again: the doctor of later sections finds nothing.
    expect((await buy("08031234567")).status).toBe(200);
    return { reference };
  },
};

/** The key that the simulator accepts, as the secret holds it. */
const upstreamKey = (): string => {
  const secrets = z.object({ "upstream-key": z.string() });
  return secrets.parse(JSON.parse(readFileSync(join(service.folder, "data", "secrets.json"), "utf8")))["upstream-key"];
};

const refusedKey: Situation = {
  begin: async () => {
    writeFileSync(join(service.folder, "key.txt"), `${upstreamKey()}\n`);
    await service.adminJson(["secrets", "set", "upstream-key"], "live_a_key_that_the_upstream_does_not_know");
    return {};
  },
};

const refusedKeyOfTwo: Situation = {
  begin: async () => {
    writeFileSync(join(service.folder, "keys.txt"), `${upstreamKey()}\n`);
    const both = `${upstreamKey()}\nlive_a_key_that_the_upstream_does_not_know`;
    await service.adminJson(["secrets", "set", "upstream-key"], both);
    return {};
  },
};

const refusedCatalog: Situation = {
  begin: async () => {
    const plan = { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" };
    const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: [plan] };
    await service.controlSimulator("PUT", "catalog", { status: true, message: "OK", data });
    expect((await service.admin(["catalog", "refresh"])).code).toBe(1);
    return {};
  },
};

const walletMismatch: Situation = {
  begin: async () => {
    const { account } = await newCaller();
    await service.changeBalance(account, 1);
    return { account };
  },
};

const changedMonth: Situation = {
  begin: async () => {
    const account = await anOldAccount(service.ledger, CLOSED_MONTH);
    await service.adminJson(["periods", "close", CLOSED_MONTH, "--why", "month end"]);
    await changeFunding(service.ledger, account);
    return { month: CLOSED_MONTH };
  },
};

const identityCheck: Situation = {
  begin: async () => {
    const { account, key } = await newCaller();
    const response = await service.verifyNin(key, { nin: "12345678900", purpose: "account opening" });
    return { account, reference: response.headers.get("x-transaction-reference") ?? "" };
  },
};

/** An access table that was restored to a time before a key was created. */
const restoredAccess: Situation = {
  begin: async () => {
    const { key } = await newCaller();
    const Key = { pk: hashApiKey(key) };
    await service.ledger.db.delete({ TableName: localTableNames.access, Key });
    return {};
  },
};

/** Later sections buy nothing: their orders would wait too. */
const waitingOrder: Situation = {
  begin: async () => {
    const { account, buy } = await newCaller();
    await service.refuseByLimit();
    return { account, reference: (await buy("08031234567")).reference };
  },
};

const limitedApp: Situation = {
  begin: async () => {
    const { account, keyId } = await service.newApp();
    return { account, key: keyId };
  },
};

/** The account of the section "Close an account". */
let closing = "";
const endedApp: Situation = {
  begin: async () => {
    ({ account: closing } = await service.newApp());
    const spent = { accountId: closing, adjustmentId: "spent", amount_kobo: -749_50, why: "spent" };
    await adjustWallet(service.ledger, spent);
    return { account: closing };
  },
  before: { 1: () => ageWallet(service, closing) },
};

const nothing: Situation = { begin: async () => ({}) };

/** By the headings of the pages. */
const situations: Readonly<Record<string, Situation>> = {
  Runbook: nothing,
  Alarms: nothing,
  "Stuck purchase": stuckPurchase,
  "Unmatched event": unmatchedEvent,
  "Event contradicts a final status": eventAfterSuccess("failed"),
  "Unreadable event": eventAfterSuccess("reversed"),
  "Webhook endpoint down": endpointDown,
  "Leaked API key": leakedKey,
  "Stop selling": nothing,
  "Reference key": nothing,
  "Identity key": nothing,
  "Price differs": nothing,
  "Low success rate": nothing,
  "Orders end late": nothing,
  "Float low": { begin: async () => ({ naira: "500000", id: "GTB-float-1" }) },
  "Float not measured": nothing,
  "Upstream balance empty": emptyUpstream,
  "Upstream unreachable": nothing,
  "Unrecognized answers": unrecognizedAnswer,
  "Upstream key refused": refusedKey,
  "One of several upstream keys refused": refusedKeyOfTwo,
  "Upstream rate limit": nothing,
  "Catalog refused": refusedCatalog,
  "Dropped catalog entries": nothing,
  "Network code removed": nothing,
  "Consent of an identity check": identityCheck,
  "Checks that find nobody": identityCheck,
  "Record of another person": identityCheck,
  "Restored table": restoredAccess,
  "Wallet mismatch": walletMismatch,
  "Closed month differs": changedMonth,
  "Wallet not reconciled": stuckPurchase,
  "Break-glass": nothing,
  "Audit entries that do not verify": nothing,
  "Direct access": nothing,
  "Dead letters": nothing,
  "Messages that wait": nothing,
  "Throttled table": nothing,
  "Queued orders": waitingOrder,
  "Parked webhooks not sent": nothing,
  "Events on request not sent": nothing,
  "Notification given up": notifiedPerson,
  "Function errors": nothing,
  "Gateway errors": nothing,
  "Console fails": nothing,
  "Refused actions of the console": nothing,
  "Scheduled work not done": nothing,
  "Onboard a caller": newEndpoint,
  "Duplicates and limits": limitedApp,
  "Close an account": endedApp,
};

const sections = ["docs/runbook.md", "docs/onboarding.md"].flatMap(documentSections).map(({ heading, blocks }) => ({
  heading,
  blocks: blocks.filter(({ language }) => language === "sh").map(({ text }) => text.split("\n")),
}));

/** The fields of a result that a later command may use. */
const resultNames = z.partial(z.object({ account_id: z.string(), key_id: z.string() }));

/** Runs one line of the page, and adds what it prints to the names. */
const run = async (line: string, names: Names): Promise<Names> => {
  const printed = await runDocumentCommand(service, line, names, ["--json"]);
  if (printed === undefined) return names;
  const { account_id: account, key_id: key } = resultNames.parse(JSON.parse(printed));
  return { ...names, ...(account !== undefined && { account }), ...(key !== undefined && { key }) };
};

test("every section of the two pages has a situation in this test, and they have more than 40 commands", () => {
  expect(sections.map(({ heading }) => heading)).toEqual(Object.keys(situations));
  expect(sections.flatMap(({ blocks }) => blocks.flat()).length).toBeGreaterThan(40);
});

test("a caller is onboarded with 6 commands", () => {
  expect(sections.find(({ heading }) => heading === "Onboard a caller")?.blocks[0]).toHaveLength(6);
});

test.for(sections.filter(({ blocks }) => blocks.length > 0))(
  'the commands of the section "$heading" work as written',
  async ({ heading, blocks }) => {
    const situation = situations[heading] ?? nothing;
    let names = await situation.begin();
    for (const [position, lines] of blocks.entries()) {
      await situation.before?.[position]?.();
      for (const line of lines) names = await run(line, names);
    }
  },
);
