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
import { addSecrets } from "./commands/secrets.ts";
import { addTransactions } from "./commands/transactions.ts";
import { addWallet } from "./commands/wallet.ts";
import { addWebhook } from "./commands/webhook.ts";

/** The operator's command line, complete. `isQuiet` leaves it to the caller to say what was wrong with the arguments. */
export const adminProgram = ({ isQuiet = false } = {}): Command => {
  const program = new Command("admin")
    .configureOutput(isQuiet ? { writeErr: () => {} } : {})
    .usage("<command> [options]")
    .description(
      "Operates the service on this machine, or with --stage a deployed one. Amounts are NGN.\n" +
        "What is asked for and cannot be: exit code 2, and nothing was changed. Anything else that fails: 1.",
    )
    .option("--json", 'answer with one line of JSON on standard output; an error is {"error":{"kind","message"}}')
    .option("--by <name>", "who acts, for the record (default: your user name)")
    .option("--stage <name>", "a deployed stage instead of the service on this machine")
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .exitOverride();
  for (const add of [
    addAccounts,
    addIps,
    addKeys,
    addWallet,
    addLedger,
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
