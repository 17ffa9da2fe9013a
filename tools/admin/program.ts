import { Command } from "commander";
import { addAccounts } from "./commands/accounts.ts";
import { addAnnounce } from "./commands/announce.ts";
import { addAudit } from "./commands/audit.ts";
import { addCatalog } from "./commands/catalog.ts";
import { addConsents } from "./commands/consents.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEvents } from "./commands/events.ts";
import { addIps } from "./commands/ips.ts";
import { addKeys } from "./commands/keys.ts";
import { addLedger } from "./commands/ledger.ts";
import { addPurchases } from "./commands/purchases.ts";
import { addSecrets } from "./commands/secrets.ts";
import { addTransactions } from "./commands/transactions.ts";
import { addWallet } from "./commands/wallet.ts";
import { addWebhook } from "./commands/webhook.ts";

/** The operator's whole command line. With `isQuiet`, commander prints no usage errors: `main` reports them as JSON. */
export const adminProgram = ({ isQuiet = false } = {}): Command => {
  const program = new Command("admin")
    .configureOutput(isQuiet ? { writeErr: () => {} } : {})
    .usage("<command> [options]")
    .description(
      "Operate the service on this machine, or a deployed stage with --stage. Amounts are in NGN.\n\n" +
        "Exit codes: 0 done; 1 failed, or a check found a fault; 2 refused, nothing changed.",
    )
    .option("--json", 'print one line of JSON on standard output; errors are {"error":{"kind","message"}}')
    .option("--by <name>", "name to record in the audit log (default: your user name)")
    .option("--stage <name>", "operate this deployed stage instead of the service on this machine")
    .option("--profile <name>", "with --stage: the AWS profile to sign in with")
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .exitOverride();
  for (const add of [
    addAccounts,
    addIps,
    addKeys,
    addWallet,
    addLedger,
    addPurchases,
    addWebhook,
    addTransactions,
    addConsents,
    addEvents,
    addDeliveries,
    addAnnounce,
    addCatalog,
    addSecrets,
    addAudit,
    addDoctor,
  ]) {
    add(program);
  }
  return program;
};
