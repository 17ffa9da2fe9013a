import { Command } from "commander";
import { actionNames } from "../../shared/contract/actions/actions.ts";
import { roles } from "../../shared/contract/roles.ts";
import { addActionCommand, commandOf } from "./action-command.ts";
import { addGroup, HELP } from "./command.ts";
import { addAnnounce } from "./commands/announce.ts";
import { addAudit } from "./commands/audit.ts";
import { addDoctor } from "./commands/doctor.ts";
import { writeMessage, writeText } from "./terminal.ts";

/** The commands of a group that no action's entry states. */
type CommandModule = { readonly addCommands: (group: Command) => void };

/** Groups of commands, in the order of the help. A module is loaded once its group is named, to save time. */
const groups: readonly (readonly [name: string, summary: string, byHand?: () => Promise<CommandModule>])[] = [
  ["accounts", "Manage the accounts of callers", () => import("./commands/accounts.ts")],
  ["notifications", "List who is notified of what, and stop it"],
  ["access", "Review who may use and manage accounts"],
  ["ips", "Manage the addresses from which an account may call"],
  ["keys", "Manage API keys", () => import("./commands/keys.ts")],
  ["wallet", "Fund, correct and reconcile wallets", () => import("./commands/wallet.ts")],
  ["proposals", "Decide what another person proposed"],
  ["prices", "Set what an account pays where it differs from the face value"],
  ["margin", "Report what delivered orders cost and earned", () => import("./commands/margin.ts")],
  ["refund-clock", "Report how long after their debit orders ended", () => import("./commands/refund-clock.ts")],
  ["float", "Book payments to the upstream, and see how long they last"],
  ["ledger", "Export a closed period, and complete a restored ledger", () => import("./commands/ledger.ts")],
  ["periods", "Close months for good, and verify them", () => import("./commands/periods.ts")],
  ["purchases", "Switch all new orders off and on, identity checks included"],
  ["webhook", "Manage the webhook endpoints of an account"],
  ["webhook secret", "Manage the signing secret of the endpoint"],
  ["transactions", "Find, inspect and resolve transactions", () => import("./commands/transactions.ts")],
  ["consents", "Inspect and export the consents of identity checks", () => import("./commands/consents.ts")],
  ["subjects", "Report what is stored about a person, and erase it", () => import("./commands/subjects.ts")],
  ["events", "Resolve upstream events that could not be applied automatically"],
  ["deliveries", "Inspect and resend webhook deliveries"],
  ["dead-letters", "See the messages that were given up, and send them again"],
  ["catalog", "Inspect and refresh the catalog of networks and data plans", () => import("./commands/catalog.ts")],
  ["upstream", "Find out what the upstream accepts"],
  ["reconciliation", "Compare the upstream's statements with our books", () => import("./commands/reconciliation.ts")],
  ["reconciliation files", "Take out a wrong file of a day"],
  ["reconciliation statements", "Inspect and sign off the statements of days"],
  [
    "reconciliation cases",
    "Inspect and decide what differs",
    async () => ({ addCommands: (await import("./commands/reconciliation.ts")).addCaseCommands }),
  ],
  ["secrets", "Set and rotate the service's secrets", () => import("./commands/secrets.ts")],
];

const groupOf = (name: string): string => name.split(" ").slice(0, -1).join(" ");

/** Adds the commands of a group that actions' entries state. */
const addActionCommands = (group: Command, groupName: string): void => {
  for (const name of actionNames) {
    const command = commandOf(name);
    if (command !== undefined && groupOf(name) === groupName) addActionCommand(group, name, command);
  }
};

/** Adds the groups: with all their commands, or each with its commands once it is named. */
const addGroups = async (program: Command, isComplete: boolean): Promise<void> => {
  const added = new Map([["", program]]);
  const unfilled = new Map<Command, () => Promise<void>>();
  for (const [name, summary, byHand] of groups) {
    const group = addGroup(added.get(groupOf(name)) ?? program, name.split(" ").at(-1) ?? "", summary);
    added.set(name, group);
    unfilled.set(group, async () => {
      unfilled.delete(group);
      addActionCommands(group, name);
      (await byHand?.())?.addCommands(group);
    });
  }
  for (const group of added.values()) group.hook("preSubcommand", (_parent, named) => unfilled.get(named)?.());
  if (isComplete) for (const fill of unfilled.values()) await fill();
};

/** What commander refuses, as the other refusals are written: without `error:`, in sentences on one line. */
export const usageSentence = (text: string): string => {
  const [problem = "", ...hints] = text
    .replace(/^error: /, "")
    .trim()
    .split("\n");
  const sentence = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`.replace(/[^.]$/, "$&.");
  return [sentence, ...hints.map((hint) => hint.replace(/^\((.*)\)$/, "$1"))].join(" ");
};

/**
 * The operator's command line. With `isQuiet`, commander prints no usage errors: `main` reports them as JSON. With
 * `isComplete`, all groups have their commands, not only the one that is named.
 */
export const adminProgram = async ({ isQuiet = false, isComplete = false } = {}): Promise<Command> => {
  const program = new Command("admin")
    .configureOutput({
      writeOut: writeText,
      writeErr: (text) => void (isQuiet || writeMessage(text)),
      outputError: (text, write) => write(`${usageSentence(text)}\n`),
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
    .option("--direct", "read and write the tables and queues directly, if the service does not answer")
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .showHelpAfterError(`${HELP}.`)
    .exitOverride();
  await addGroups(program, isComplete);
  addActionCommands(program, "");
  for (const add of [addAnnounce, addAudit, addDoctor]) add(program);
  return program;
};
