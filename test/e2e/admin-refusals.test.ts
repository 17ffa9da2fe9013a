import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, expect, test, vi } from "vitest";
import * as z from "#zod";
import { actionNames, actions } from "../../shared/contract/actions/actions.ts";
import { adminProgram } from "../../tools/admin/program.ts";
import { localAwsEnvironment, setEnvironment } from "../../tools/local/local-aws.ts";
import { type AdminDetails, adminDetails, adminFileOf } from "../../tools/local/service-file.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { bankReference, runCommand, runProgram, startOperatedService } from "../builders/service/admin.ts";

/** Goal: a refused command exits with 2, says why and what to do, and changes nothing; a failed one exits with 1. */
const service = await startOperatedService();
afterAll(() => service.stop());

const isReadAction = (action: unknown): boolean =>
  actionNames.some((name) => name === action && actions[name].kind === "read");

/**
 * All items of the access table and the ledger by key, except checkpoints, which the schedule writes, and audit entries
 * of reads with their chain's head: that someone tried to see personal data is recorded too.
 */
const allItems = async (): Promise<ReadonlyMap<unknown, unknown>> => {
  const items: Record<string, unknown>[] = [];
  for (const TableName of [localTableNames.access, localTableNames.ledger]) {
    items.push(...((await service.ledger.db.scan({ TableName })).Items ?? []));
  }
  const kept = items.filter(({ pk, action }) => !/^(checkpoint|audit-head)#/.test(String(pk)) && !isReadAction(action));
  return new Map(kept.map((item) => [item.pk, item]));
};

test("a command that cannot be carried out exits with 2, prints one message and changes nothing", async () => {
  const { account, key, keyId } = await service.newApp();
  const other = await service.newApp();
  const { reference } = await service.buy(key, "08031234567");
  const why = ["--why", "because"];
  const none = "acc_000000000000000000";
  const refusals: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [["accounts", "show", none], /There is no account acc_0+\./],
    [["accounts", "create", "  "], /^<name>: Must not be empty/],
    [["accounts", "create", "check\u001b[2Jout"], /^<name>: Must not contain control or invisible/],
    [["accounts", "create", "check\u202eout"], /^<name>: Must not contain control or invisible/],
    [["accounts", "restrict", account, "--why", "line one\nline two"], /^--why: Must not contain control or invisible/],
    [["accounts", "restrict", account, "--by", "a\u0007da"], /^--by: Must not contain control or invisible/],
    [["consents", "show", reference], /has no consent: it is not an identity check/],
    [["consents", "show", "VERIFY_00000000000000000000000000"], /There is no transaction/],
    [["keys", "create", account, "--mode", "prod"], /^--mode: Must be live or test/],
    [["keys", "create", account], /^--mode: Is required/],
    [["keys", "rotate", "key_000000000000000000"], /There is no key/],
    [["keys", "rotate", keyId, "--overlap", "soon"], /Must be a duration such as/],
    [["keys", "revoke", key], /Must be a key id/],
    [["keys", "find"], /from standard input, which is empty/],
    [["wallet", "fund", account, "500,00", "--id", "b"], /^<naira>: Must be an amount of NGN .* commas only/],
    [
      ["wallet", "fund", account, "6000", "--id", bankReference(account)],
      /was recorded already, with NGN 5,000\.00 at [-0-9T:.Z]+\. If that is wrong: wallet reverse acc_\w+ --id [^ ]+ --why REASON, then credit it with the id [^ ]+-again/,
    ],
    [
      ["wallet", "fund", other.account, "5000", "--id", bankReference(account).toUpperCase()],
      new RegExp(`was credited to account ${account} already, with NGN 5,000\\.00 at [-0-9T:.Z]+\\. If`),
    ],
    [["wallet", "fund", account, "5"], /^--id: Is required/],
    [["wallet", "adjust", account, "0", "--id", "c", ...why], /Must not be 0/],
    [["wallet", "adjust", account, "5", "--id", "c"], /^--why: Is required/],
    [
      ["wallet", "adjust", account, "5,00"],
      /^<naira>: Must be an amount .*\. --id: Is required\. --why: Is required\. --help/,
    ],
    [
      ["accounts", "owners", account, "--set", "ada"],
      /^--set: "ada": Must be email:ADDRESS, group:NAME or none\. --help/,
    ],
    [["margin", "report"], /^--from: Must be a date .*\. --to: Must be a date .*\. --help/],
    [["wallet", "statement", account, "--from", "soon"], /Must be a date/],
    [["wallet", "verify"], /Name an account, or add --all/],
    [["wallet", "verify", account, "--all"], /Name an account, or add --all/],
    [["keys", "revoke", "key_000000000000000000"], /There is no key/],
    [["ledger", "carry-over"], /^--from: Is required/],
    [["ledger", "carry-over", "--from", "x"], /^--from: Must be the name of a DynamoDB table/],
    [
      ["ledger", "carry-over", "--from", "old-ledger"],
      /Purchases are on and workers are on at local\. Run purchases off, and deploy the setting workers: "off", first/,
    ],
    [["purchases", "off"], /^--why: Is required/],
    [["webhook", "set", account, "https://169.254.169.254/x"], /not a public address/],
    [["webhook", "set", account, "https://user:pass@example.com"], /must not contain credentials/],
    [["webhook", "test", account], /has no webhook endpoint/],
    [["transactions", "show", "DATA_00000000000000000000000000"], /There is no transaction/],
    [["transactions", "resolve", reference, "failed"], /^--why: Is required/],
    [["transactions", "resolve", reference, "failed", ...why], /was settled as success at/],
    [["transactions", "resolve", reference, "lost", ...why], /Must be success or failed/],
    [["transactions", "list"], /Add --stuck, --open, --waiting or --account/],
    [
      ["transactions", "list", "--account", account, "--older", "1d"],
      /^--account does not go with --older, only with --mode and --status\./,
    ],
    [
      ["transactions", "list", "--stuck", "--account", account],
      /^--stuck does not go with --account, only with --older/,
    ],
    [["transactions", "list", "--stuck", "--open"], /^--stuck does not go with --open/],
    [
      ["transactions", "list", "--waiting", "--status", "failed"],
      /^--waiting does not go with --status, only with --acc/,
    ],
    [["transactions", "show", "+234 803 123 4567"], /^A phone number must not be in the address of a request/],
    [
      ["secrets", "rotate", "foo"],
      /^There is no secret foo\. secrets rotate takes webhook-token or replay-key or reference-key\./,
    ],
    [["events", "match", "event_none", reference, ...why], /There is no event/],
    [["events", "discard", "event_none"], /^--why: Is required/],
    [["deliveries", "replay", "DATA_1"], /There is no transaction/],
    [["announce", "--from", "2026-02-02", "--to", "2026-02-01"], /ends before it begins/],
    [["secrets", "set", "reference-key"], /secrets rotate reference-key adds a version/],
    [["secrets", "rotate", "upstream-key"], /Use secrets set upstream-key/],
    [["audit", "event_none"], /There is no event/],
    [["audit", "event_none", "--from", "2026-11-01"], /^--from is for the log of an account or of the service/],
    [["audit", "verify", "--from", "2026-11-01"], /^--from is for the log of an account or of the service/],
    [["audit", none], /There is no account acc_0+\./],
    ...[["audit"], ["deliveries", "show"], ["consents", "show"]].map((command): [string[], RegExp] => [
      [...command, "bundle-1042"],
      /There is no transaction bundle-1042\. By the caller's own reference transactions show, consents show and audit find it/,
    ]),
    [["accounts", "restrict", account, "--why", "ok"], /^--why: Must have at least 3 characters/],
    [["accounts", "list", "--stage", "prod"], /Stage "prod" has the placeholder 000000000000 as its account/],
    [["accounts", "restrict", account, "--profile", "on-call"], /^--profile is for a deployed stage: add --stage/],
    [["wallets"], /Unknown command 'wallets'/],
  ];
  const before = await allItems();
  for (let start = 0; start < refusals.length; start += 4) {
    await Promise.all(
      refusals.slice(start, start + 4).map(async ([args, message]) => {
        const run = await service.admin(args);
        expect({ args, ...run }).toEqual({ args, code: 2, stdout: "", stderr: expect.stringMatching(message) });
      }),
    );
  }
  expect(await allItems()).toEqual(before);
});

test("a refused command with --json prints one line of JSON on standard output and exits with 2", async () => {
  const refused = (message: unknown) => ({ error: { kind: "refused", message } });
  const cases: readonly (readonly [args: readonly string[], error: unknown])[] = [
    [["accounts", "show", "acc_none"], refused("There is no account acc_none. accounts list shows the account ids.")],
    [["accounts", "create", " "], refused("<name>: Must not be empty. --help lists what the command takes.")],
    [["wallet", "fund", "acc_none", "5"], refused("--id: Is required. --help lists what the command takes.")],
    [["wallets"], refused(expect.stringContaining("Unknown command 'wallets'"))],
    [["accounts"], refused("Name a command. --help lists them.")],
    [[], refused("Name a command. --help lists them.")],
  ];
  for (const [args, error] of cases) {
    const run = await service.admin([...args, "--json"]);
    expect({ args, ...run }).toEqual({ args, code: 2, stdout: expect.stringMatching(/^[^\n]+\n$/), stderr: "" });
    expect(JSON.parse(run.stdout)).toEqual(error);
  }
});

/** Writes a file for the command line that differs from the service's own; resolves with the name of its service file. */
const writeServiceFile = (name: string, changes: (details: AdminDetails) => object): string => {
  const details = adminDetails.parse(JSON.parse(readFileSync(adminFileOf(service.serviceFile), "utf8")));
  const serviceFile = join(service.folder, `${name}.json`);
  writeFileSync(adminFileOf(serviceFile), JSON.stringify({ ...details, ...changes(details) }));
  return serviceFile;
};
/** Where nothing answers. */
const origin = "http://127.0.0.1:2";

test("a failed command exits with 1, and with --json prints one line of JSON on standard output", async () => {
  const serviceFile = writeServiceFile("unreachable", () => ({ base_url: `${origin}/v1` }));
  const message =
    "The service does not answer. Check that it is running. A stage can be operated with --direct without it.";
  const plain = await runCommand(["accounts", "list"], { serviceFile });
  expect(plain).toEqual({ code: 1, stdout: "", stderr: `${message}\n` });
  const { code, stdout } = await runCommand(["accounts", "list", "--json"], { serviceFile });
  expect([code, JSON.parse(stdout)]).toEqual([1, { error: { kind: "failed", message } }]);
});

test("a command whose credentials end after its first change exits with 1, says that this change stays, and goes on when it is repeated", async () => {
  const statement = join(service.folder, "statement.csv");
  const columns = join(service.folder, "columns.json");
  const map = { columns: { amount: "amount", status: "status", time: "time" }, amount: { unit: "kobo" }, statuses: {} };
  writeFileSync(columns, JSON.stringify({ ...map, time: { format: "ISO 8601", zone: "Africa/Lagos" } }));
  writeFileSync(statement, "amount,status,time\n50000,success,2026-10-05T12:00:00Z\n");
  const importFile = ["reconciliation", "import", statement, "--day", "2026-10-05", "--columns", columns];
  const { fetch: send } = globalThis;
  const expired = "The security token included in the request is expired";
  const ending = vi
    .spyOn(globalThis, "fetch")
    .mockImplementation((url, init) =>
      String(url).endsWith("/reconciliation/files/append")
        ? Promise.resolve(Response.json({ message: expired }, { status: 403 }))
        : send(url, init),
    );
  const plain = await service.admin(importFile);
  const asJson = await service.admin([...importFile, "--json"]);
  ending.mockRestore();
  const message = new RegExp(`^AWS refuses POST .*${expired}.*\\. What the command had done before stays\\.`);
  expect(plain).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
    1,
    { error: { kind: "failed", message: expect.stringMatching(message) } },
  ]);
  const { stdout } = await service.admin(importFile);
  expect(stdout).toMatch(/^1 row: 1 stored now/);
});

test("doctor of a service that was killed says of each part that does not answer how to start it", async () => {
  const endpoints = { dynamodb: origin, sqs: origin, secretsManager: origin };
  const serviceFile = writeServiceFile("killed", () => ({ base_url: `${origin}/v1`, endpoints }));
  const restoreEnvironment = setEnvironment(localAwsEnvironment(endpoints));
  const run = await runCommand(["doctor", "--json"], { serviceFile });
  restoreEnvironment();
  const checks = z.array(
    z.object({ check: z.string(), state: z.string(), found: z.string(), todo: z.optional(z.string()) }),
  );
  const wrong = z
    .object({ checks })
    .parse(JSON.parse(run.stdout))
    .checks.filter(({ state }) => state === "wrong");
  expect([run.code, wrong.map(({ check }) => check)]).toEqual([
    1,
    expect.arrayContaining(["service", "catalog", "reference key", "upstream's webhook", "dead letters"]),
  ]);
  const answers = new Set(wrong.map(({ found, todo }) => `${found}: ${todo}`));
  expect([...answers]).toEqual(["does not answer: Check that the service is running. npm start starts it"]);
});

test("a command whose reader ends before it prints has made its change, prints no error and exits with 0", async () => {
  const { account } = await service.newApp();
  const fund = `"${process.execPath}" tools/admin/main.ts wallet fund ${account} 5 --id PIPE-1`;
  const run = await runProgram("sh", ["-c", `{ ${fund}; echo "exit code $?" >&2; } | true`], service);
  expect(run).toEqual({ code: 0, stdout: "", stderr: "exit code 0\n" });
  expect((await service.admin(["wallet", "statement", account])).stdout).toContain("PIPE-1");
});

test("without a running service, or with one of another version, a command exits with 2 and says how to start one", async () => {
  const old = writeServiceFile("old", ({ environment: { LEDGER_TABLE: _absent, ...environment } }) => ({
    environment,
  }));
  for (const [serviceFile, says] of [
    [`${service.folder}/none.json`, /No service is running here .* npm start/],
    [old, /^Another version .* npm start again\.\n$/],
  ] as const) {
    const run = await runCommand(["accounts", "list"], { serviceFile });
    expect(run).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
  }
});

test("the help of every command has a summary and an example", async () => {
  const leaves = (command: Command): readonly Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  const commands = leaves(await adminProgram({ isComplete: true }));
  expect(commands.length).toBeGreaterThan(40);
  for (const command of commands) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toMatch(new RegExp(`Usage: admin .*${command.name()}`));
    expect(help).toMatch(/Example:\n {2}npm run (-s )?admin -- \w+/);
    expect(command.description().length).toBeGreaterThan(7);
  }
});
