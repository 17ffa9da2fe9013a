import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeleteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { keyHash } from "../../shared/access/api-key.ts";
import { walletPk } from "../../shared/ledger/schema.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { listEvents, recordEvent, storedEventId } from "../../shared/upstream-events/stored-event.ts";
import { tableNames } from "../../tools/local/tables.ts";
import { ADMIN, ageTransaction, type OperatedService, runProgram, startOperatedService } from "../builders/admin.ts";
import { type Receiver, startReceiver } from "../builders/receiver.ts";

/**
 * Goal: every command of docs/runbook.md works, in the situation that its section is about. Method: a section's situation is brought about
 * on a running service, its commands are run as they stand, and `<names>` are filled from the situation and from earlier answers.
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

/** What is known by name when a command is run. */
type Names = Record<string, string>;

/** An app that buys. */
const anApp = async () => {
  const { account, key } = await service.newApp();
  return { account, key, buy: (phoneNumber: string) => service.buy(key, phoneNumber) };
};

const control = (method: string, path: string, body: unknown): Promise<Response> =>
  fetch(service.details.upstream.base_url.replace(/\/v1$/, `/_simulator${path}`), {
    method,
    ...(method !== "DELETE" && { body: JSON.stringify(body) }),
  });

const eventNamed = async (reference: string): Promise<string> => {
  const found = (await listEvents(service.ledger, "0000")).find((event) => event.reference === reference);
  if (found === undefined) throw new Error(`No event about ${reference} was kept`);
  return storedEventId(found);
};

/** A situation: what has happened before the first command, and what happens before each further block of them. */
type Situation = {
  readonly begin: () => Promise<Names>;
  readonly before?: Readonly<Record<number, () => Promise<void>>>;
};

const newApp: Situation = { begin: async () => ({ url: receiver.url }) };

const stuckPurchase: Situation = {
  begin: async () => {
    const { account, buy } = await anApp();
    return { account, reference: (await buy("08000000004")).reference };
  },
};

const unmatchedEvent: Situation = {
  begin: async () => {
    const { account, buy } = await anApp();
    const { reference } = await buy("08000000001");
    const upstream = service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";
    const event = { kind: "event", mode: "live", status: "success", type: "airtime" } as const;
    const told = { received_at: isoTime(Date.now()), reference: upstream, amount_kobo: koboFromNaira(500) };
    await recordEvent(service.ledger, { ...event, ...told }, "several_candidates");
    // The request is over for long when somebody gets to it.
    await ageTransaction(service, reference);
    return { account, reference, event: await eventNamed(upstream) };
  },
};

const contradiction: Situation = {
  begin: async () => {
    const { account, buy } = await anApp();
    const { reference } = await buy("08031234567");
    await control("POST", "/events", { reference, status: "failed" });
    const upstream = service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";
    const event = await vi.waitFor(() => eventNamed(upstream), 10_000);
    return { account, reference, event };
  },
};

const reversal: Situation = {
  begin: async () => {
    const { account, buy } = await anApp();
    const { reference } = await buy("08031234567");
    await control("POST", "/events", { reference, status: "reversed" });
    const upstream = service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";
    const event = await vi.waitFor(() => eventNamed(upstream), 10_000);
    return { account, reference, event };
  },
};

const endpointDown: Situation = {
  begin: async () => {
    const from = isoTime(Date.now() - 1_000);
    const { account, buy } = await anApp();
    await service.adminJson(["webhook", "set", account, receiver.url]);
    isEndpointDown = true;
    const { reference } = await buy("08031234567");
    const state = z.object({ status: z.string() });
    await vi.waitFor(
      async () => expect(state.parse(await service.adminJson(["webhook", "show", account])).status).toBe("off"),
      10_000,
    );
    return { account, reference, from };
  },
  before: {
    1: async () => {
      isEndpointDown = false;
    },
  },
};

const leakedKey: Situation = {
  begin: async () => {
    const { key, buy } = await anApp();
    await buy("08031234567");
    writeFileSync(join(service.folder, "leaked-key.txt"), key);
    return {};
  },
};

const emptyUpstream: Situation = {
  begin: async () => {
    const { account, buy } = await anApp();
    await control("PUT", "/wallet", { balance_kobo: 0 });
    expect((await buy("08031234567")).status).toBe(502);
    await control("PUT", "/wallet", { balance_kobo: 100_000_00 });
    expect((await buy("08031234567")).status).toBe(200);
    return { account };
  },
};

const refusedKey: Situation = {
  begin: async () => {
    const secrets = z.object({ "upstream-key": z.string() });
    const kept = secrets.parse(JSON.parse(readFileSync(join(service.folder, "data", "secrets.json"), "utf8")));
    writeFileSync(join(service.folder, "key.txt"), `${kept["upstream-key"]}\n`);
    await service.adminJson(["secrets", "set", "upstream-key"], "live_a_key_that_the_provider_does_not_know");
    return {};
  },
};

const refusedCatalog: Situation = {
  begin: async () => {
    const plan = { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" };
    const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: [plan] };
    await control("PUT", "/catalog", { status: true, message: "OK", data });
    expect((await service.admin(["catalog", "refresh"])).code).toBe(1);
    return {};
  },
};

const lyingWallet: Situation = {
  begin: async () => {
    const { account } = await anApp();
    await service.ledger.db.send(
      new UpdateCommand({
        TableName: tableNames.ledger,
        Key: { pk: walletPk(account) },
        UpdateExpression: "SET balance_kobo = balance_kobo + :one",
        ExpressionAttributeValues: { ":one": 1 },
      }),
    );
    return { account };
  },
};

const identityCheck: Situation = {
  begin: async () => {
    const { account, key } = await anApp();
    const checked = await fetch(`${service.details.base_url}/identity/nin/verify`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ nin: "12345678900", is_consent: true, purpose: "account opening" }),
    });
    return { account, reference: checked.headers.get("x-transaction-reference") ?? "" };
  },
};

/** An access table of before a key was made. */
const restoredAccess: Situation = {
  begin: async () => {
    const { key } = await anApp();
    const Key = { pk: keyHash(key) };
    await service.ledger.db.send(new DeleteCommand({ TableName: tableNames.access, Key }));
    return {};
  },
};

const nothing: Situation = { begin: async () => ({}) };

/** By the headings of the page. */
const situations: Readonly<Record<string, Situation>> = {
  Runbook: nothing,
  "Onboard a caller": newApp,
  "Stuck purchase": stuckPurchase,
  "Unmatched event": unmatchedEvent,
  "Event contradicts a final status": contradiction,
  "Unreadable event": reversal,
  "Webhook endpoint down": endpointDown,
  "Leaked API key": leakedKey,
  "Upstream balance empty": emptyUpstream,
  "Unrecognized 404 on identity checks": nothing,
  "Upstream key refused": refusedKey,
  "Upstream rate limit": nothing,
  "Catalog refused": refusedCatalog,
  "Dropped catalog entries": nothing,
  "Consent of an identity check": identityCheck,
  "Restored table": restoredAccess,
  "Wallet mismatch": lyingWallet,
  "Wallet not reconciled": stuckPurchase,
  "Dead letters": nothing,
};

const sections = readFileSync("docs/runbook.md", "utf8")
  .split(/^#{1,2} /m)
  .slice(1)
  .map((text) => ({
    heading: text.split("\n", 1)[0] ?? "",
    blocks: [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = ""]) => commands.trim().split("\n")),
  }));

/** What an answer calls by a name that a command may use. */
const answers = z.object({ account_id: z.string(), key_id: z.string() }).partial();

/** Runs one line of the page; its exit code is 0, unless the line says otherwise. */
const run = async (line: string, names: Names): Promise<Names> => {
  const [command = "", expected = "0"] = line.split(/ +# exit code /);
  const filled = command.replaceAll(/<(\w+)>/g, (_placeholder, name: string) => {
    const value = names[name];
    if (value === undefined) throw new Error(`${line}: nothing says what <${name}> is`);
    return value;
  });
  const isCsv = filled.includes("--csv");
  const script = filled.replace(/^npm run admin -- (.*?)( [<>] |$)/, (_whole, args: string, rest: string) =>
    [`'${process.execPath}' '${ADMIN}' ${args}`, isCsv ? "" : " --json", rest].join(""),
  );
  expect(script).not.toBe(filled);
  const { code, stdout, stderr } = await runProgram("/bin/sh", ["-c", script], {
    serviceFile: service.serviceFile,
    cwd: service.folder,
  });
  expect({ line, code, stderr: code === Number(expected) ? "" : stderr }).toEqual({
    line,
    code: Number(expected),
    stderr: "",
  });
  if (isCsv) return names;
  const { account_id: account, key_id: key } = answers.parse(JSON.parse(stdout));
  return { ...names, ...(account !== undefined && { account }), ...(key !== undefined && { key }) };
};

test("every section of the runbook has its situation here, and the page has more than 40 commands", () => {
  expect(sections.map(({ heading }) => heading)).toEqual(Object.keys(situations));
  expect(sections.flatMap(({ blocks }) => blocks.flat()).length).toBeGreaterThan(40);
});

test("a new app is onboarded in 5 commands", () => {
  expect(sections.find(({ heading }) => heading === "Onboard a caller")?.blocks[0]).toHaveLength(5);
});

test.for(sections)("$heading: the commands work as they stand", async ({ heading, blocks }) => {
  const situation = situations[heading] ?? nothing;
  let names = await situation.begin();
  for (const [position, lines] of blocks.entries()) {
    await situation.before?.[position]?.();
    for (const line of lines) names = await run(line, names);
  }
});
