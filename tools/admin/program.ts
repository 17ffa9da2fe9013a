import { Command } from "commander";
import { actionNames } from "../../shared/contract/actions/actions.ts";
import { roles } from "../../shared/contract/roles.ts";
import { addActionCommand, commandOf } from "./action-command.ts";
import { addGroup } from "./command.ts";
import { addAccountCommands } from "./commands/accounts.ts";
import { addAnnounce } from "./commands/announce.ts";
import { addAudit } from "./commands/audit.ts";
import { addCatalogCommands } from "./commands/catalog.ts";
import { addConsentCommands } from "./commands/consents.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addLedgerCommands } from "./commands/ledger.ts";
import { addLedgerExport } from "./commands/ledger-export.ts";
import { addMarginCommands } from "./commands/margin.ts";
import { addPeriodCommands } from "./commands/periods.ts";
import { addReconciliationCommands, addStatementCaseCommands } from "./commands/reconciliation.ts";
import { addRefundClockCommands } from "./commands/refund-clock.ts";
import { addSecretCommands } from "./commands/secrets.ts";
import { addSubjectCommands } from "./commands/subjects.ts";
import { addTransactionCommands } from "./commands/transactions.ts";
import { addWalletCommands } from "./commands/wallet.ts";
import { addWebhookCommands } from "./commands/webhook.ts";
import { writeMessage, writeText } from "./terminal.ts";

/** Groups of commands, in the order of the help, with those of their commands that no action's entry states. */
const groups: readonly (readonly [name: string, summary: string, addByHand?: (group: Command) => void])[] = [
  ["accounts", "Manage the accounts of callers", addAccountCommands],
  ["notifications", "See who is notified of what, and end it"],
  ["access", "Review who may use and manage accounts"],
  ["ips", "Manage the addresses from which an account may call"],
  ["keys", "Manage API keys", addKeyCommands],
  ["wallet", "Fund, correct and reconcile wallets", addWalletCommands],
  ["proposals", "Decide what another person proposed"],
  ["prices", "Set what an account pays where it differs from the face value"],
  ["margin", "Report what delivered orders cost and earned", addMarginCommands],
  ["refund-clock", "Report how long after their debit orders ended", addRefundClockCommands],
  ["float", "Book payments to the upstream, and see how long they last"],
  [
    "ledger",
    "Export a closed period, and complete a restored ledger",
    (group) => {
      addLedgerExport(group);
      addLedgerCommands(group);
    },
  ],
  ["periods", "Close months for good, and verify them", addPeriodCommands],
  ["purchases", "Switch all new orders off and on, identity checks included"],
  ["webhook", "Manage the webhook endpoints of an account", addWebhookCommands],
  ["webhook secret", "Manage the signing secret of the endpoint"],
  ["transactions", "Find, inspect and resolve transactions", addTransactionCommands],
  ["consents", "Inspect and export the consents of identity checks", addConsentCommands],
  ["subjects", "Answer people who ask what is kept of them, and erase it", addSubjectCommands],
  ["events", "Resolve upstream events that could not be applied automatically"],
  ["deliveries", "Inspect and resend webhook deliveries"],
  ["dead-letters", "See the messages that were given up, and send them again"],
  ["catalog", "Inspect and refresh the catalog of networks and data plans", addCatalogCommands],
  ["upstream", "Find out what the upstream accepts"],
  ["reconciliation", "Compare the upstream's statements with our books", addReconciliationCommands],
  ["reconciliation files", "Take out a wrong file of a day"],
  ["reconciliation statements", "Inspect and sign off the statements of days"],
  ["reconciliation cases", "Inspect and decide what differs", addStatementCaseCommands],
  ["secrets", "Set and rotate the service's secrets", addSecretCommands],
];

/** Adds the groups and all commands in them, those that entries state first. */
const addGroups = (program: Command): void => {
  const added = new Map([["", program]]);
  const groupOf = (words: readonly string[]): Command => {
    const group = added.get(words.slice(0, -1).join(" "));
    if (group === undefined) throw new Error(`The command ${words.join(" ")} has no group`);
    return group;
  };
  for (const [name, summary] of groups) {
    const words = name.split(" ");
    added.set(name, addGroup(groupOf(words), words.at(-1) ?? "", summary));
  }
  for (const name of actionNames) {
    const command = commandOf(name);
    if (command !== undefined) addActionCommand(groupOf(name.split(" ")), name, command);
  }
  for (const [name, , addByHand] of groups) addByHand?.(groupOf([...name.split(" "), ""]));
};

/** The operator's whole command line. With `isQuiet`, commander prints no usage errors: `main` reports them as JSON. */
export const adminProgram = ({ isQuiet = false } = {}): Command => {
  const program = new Command("admin")
    .configureOutput({
      writeOut: writeText,
      writeErr: (text) => void (isQuiet || writeMessage(text)),
    })
    .usage("<command> [options]")
    .description(
      "Operate the service on this machine, or a deployed stage with --stage. Amounts are in NGN.\n\n" +
        "Exit codes: 0 done; 1 failed, or a check found a fault; 2 refused, nothing changed.",
    )
    .option("--json", 'print one line of JSON on standard output; errors are {"error":{"kind","message"}}')
    .option("--by <name>", "name to record in the audit log (default: your user name)")
    .option("--stage <name>", "operate this deployed stage instead of the service on this machine")
    .option("--profile <name>", "with --stage: the AWS profile to sign in with")
    .option("--role <role>", `act in another role than operator: ${roles.slice(1).join(", ")}`)
    .option("--direct", "work on tables and queues yourself, where the service does not answer")
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .showHelpAfterError("--help lists what the command takes.")
    .exitOverride();
  addGroups(program);
  for (const add of [addAnnounce, addAudit, addDoctor]) add(program);
  return program;
};
