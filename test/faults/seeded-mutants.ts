import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A change of the product's code that must not live: in a copy of the tree, never in the tree itself. */
type Mutant = {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
};

const mutants: readonly Mutant[] = [
  {
    name: "the debit does not look at the balance",
    edits: [
      {
        file: "shared/ledger/wallet.ts",
        find: 'ConditionExpression: "balance_kobo >= :amount"',
        replace: 'ConditionExpression: "attribute_exists(pk)"',
      },
    ],
  },
  {
    name: "the refund does not look at the status",
    edits: [
      {
        file: "shared/ledger/settle-transaction.ts",
        find: "`#status = :processing AND #mode = :mode",
        replace: "`(#status = :processing OR #status <> :processing) AND #mode = :mode",
      },
    ],
  },
  {
    name: "the announcement goes out before the end is written",
    edits: [
      {
        file: "shared/orders/place-order.ts",
        find: "    const settlement = await settleTransaction(ledger, row, verdict, deadline);",
        replace: `    if (verdict.status !== "processing") {
      const { sqsClient } = await import("../platform/aws.ts");
      const { deliveryQueue } = await import("../webhook/delivery-queue.ts");
      const queue = deliveryQueue(sqsClient(), process.env.DELIVERY_QUEUE_URL ?? "");
      await queue.send({ transaction: row.pk, status: verdict.status }, row.account_id);
    }
    const settlement = await settleTransaction(ledger, row, verdict, deadline);`,
      },
      {
        file: "shared/webhooks/deliver-webhook.ts",
        find: "transaction === undefined || transaction.status !== message.status",
        replace: "transaction === undefined",
      },
    ],
  },
];

const root = fileURLToPath(new URL("../../", import.meta.url));
const TESTS = ["test/faults/crash-points.test.ts", "test/faults/model.test.ts"];

/** Whether the tests notice it, and the first thing that they say. */
const isCaught = ({ edits }: Mutant): { readonly caught: boolean; readonly says: string } => {
  const copy = mkdtempSync(join(tmpdir(), "mutant-"));
  try {
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
    for (const file of tracked) cpSync(join(root, file), join(copy, file));
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const { file, find, replace } of edits) {
      const text = readFileSync(join(copy, file), "utf8");
      if (!text.includes(find)) throw new Error(`${file} does not hold what the mutant changes: ${find}`);
      writeFileSync(
        join(copy, file),
        text.replace(find, () => replace),
      );
    }
    const vitest = join(root, "node_modules", ".bin", "vitest");
    const run = spawnSync(vitest, ["run", "--bail=1", ...TESTS], {
      cwd: copy,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
    const said = `${run.stdout}${run.stderr}`;
    const [first = "nothing"] = said.match(/(?<=FAIL +).+/) ?? [];
    return { caught: run.status !== 0 && /[1-9]\d* failed/.test(said), says: first };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

let lived = 0;
for (const mutant of mutants) {
  console.log(`Seeding: ${mutant.name}`);
  const { caught, says } = isCaught(mutant);
  console.log(caught ? `  caught by ${says}` : "  NOT CAUGHT");
  if (!caught) lived += 1;
}
console.log(`${mutants.length - lived} of ${mutants.length} seeded mutants were caught`);
process.exitCode = lived === 0 ? 0 : 1;
