import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import * as z from "#zod";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { parseReferenceKey, withNewVersion } from "../../../shared/platform/reference-key-versions.ts";
import { type SecretKind, type SecretName, secretNames, secretTable } from "../../../shared/platform/secret-table.ts";
import { SECRET_ABSENCE_CACHE_MS, SECRET_CACHE_MS, secret } from "../../../shared/platform/secrets.ts";
import { isUsableKey, keyLines, upstreamKeyId } from "../../../shared/upstream/key-pool.ts";
import { addCommand, type Report, why } from "../command.ts";
import { type AdminContext, requireDirect } from "../context.ts";
import { perform, requireReason } from "../perform.ts";
import { isCurrentValue, isSecretSet, replaceSecret, setSecret } from "../secret-state.ts";
import { readStdin } from "../stdin.ts";
import { printMessage } from "../terminal.ts";
import { duration, table } from "../views/print.ts";

const namesOfKind = (kind: SecretKind): string =>
  secretNames.filter((name) => secretTable[name].kind === kind).join(" or ");

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: "List the secrets, who sets them, and whether they are set; never their values",
    example: "list",
    input: z.object({}),
    run: list,
  });
  addCommand(group, {
    usage: "set <name>",
    isAction: true,
    summary: `Set ${namesOfKind("filled")} to the value on standard input; several upstream keys are one per line`,
    example: "set upstream-key < key.txt",
    options: [why],
    input: z.object({ name: z.string(), why: z.optional(whySchema) }),
    run: async (context, { name: given, why }) => {
      const name = changeable(given, "filled", "set");
      const { variable, lengthMin } = secretTable[name];
      const value = storedText(name, await readStdin(name));
      if (value.length < lengthMin) throw new OperatorError(`${name} must have at least ${lengthMin} characters`);
      if (await isCurrentValue(context.secrets, context.target.environment[variable], value))
        return unchangedReport(name);
      return put(context, "secrets set", { name, why }, value);
    },
  });
  addCommand(group, {
    usage: "rotate <name>",
    isAction: true,
    summary: `Generate a new ${namesOfKind("generated")}, or another version of the reference-key`,
    example: "rotate webhook-token",
    options: [why],
    input: z.object({ name: z.string(), why: z.optional(whySchema) }),
    asks: true,
    changes: async ({ secrets, target }, { name: given }) => {
      if (given === REFERENCE_KEY)
        return { changes: [{ what: given, before: "its versions", after: "one version more" }] };
      const name = changeable(given, "generated", "rotated");
      const isSet = await isSecretSet(secrets, target.environment[secretTable[name].variable]);
      return { changes: [{ what: name, before: isSet ? "set" : "not set", after: "a new random value" }] };
    },
    run: async (context, { name: given, why }) => {
      if (given === REFERENCE_KEY) return addReferenceKeyVersion(context, why);
      const name = changeable(given, "generated", "rotated");
      return put(context, "secrets rotate", { name, why }, randomBytes(32).toString("base64url"));
    },
  });
};

const REFERENCE_KEY = "reference-key" satisfies SecretName;

/** The versions before stay: what was hashed under them is still recognised (decision 0043). */
const addReferenceKeyVersion = async (context: AdminContext, why: string | undefined): Promise<Report> => {
  const { secrets, target, ledger } = context;
  requireDirect(context, `read and change the ${REFERENCE_KEY}`);
  const id = target.environment[secretTable[REFERENCE_KEY].variable];
  const text = (await secret(secrets, id).value()) ?? "";
  const versions = parseReferenceKey(text);
  if (versions === undefined) throw new OperatorError(`The ${REFERENCE_KEY} is malformed, and was not changed`);
  const added = withNewVersion(text, versions, randomBytes(32).toString("base64url"), ledger.clock());
  if (added === undefined)
    throw new OperatorError(`The last version of the ${REFERENCE_KEY} is not in use yet. Wait 15 minutes`);
  await recordChange(context, "secrets rotate", { name: REFERENCE_KEY, why });
  await replaceSecret(secrets, id, text, added.text);
  return {
    json: { name: REFERENCE_KEY, changed: true, used_from: added.from },
    text: `The ${REFERENCE_KEY} has another version, which is used from ${added.from} on. The others still recognise what they hashed. Renew copies of the key in other accounts (docs/recovery.md).`,
  };
};

/** The secret with this name, if a command for this kind may change it. */
const changeable = (name: string, needed: SecretKind, done: "set" | "rotated"): SecretName => {
  const found = secretNames.find((known) => known === name);
  if (found === undefined) {
    const command =
      needed === "filled"
        ? `secrets set takes ${namesOfKind(needed)}`
        : `secrets rotate takes ${namesOfKind(needed)} or ${REFERENCE_KEY}`;
    throw new OperatorError(`There is no secret ${name}`, { command });
  }
  const { kind } = secretTable[found];
  if (kind === needed) return found;
  const hints = {
    filled: `. Use secrets set ${name}`,
    generated: `. Use secrets rotate ${name}`,
    fixed:
      name === REFERENCE_KEY
        ? `: what it has hashed must be recognised. secrets rotate ${REFERENCE_KEY} adds a version`
        : ": stored data depends on its value, which must never change",
  };
  throw new OperatorError(`${name} cannot be ${done}${hints[kind]}`);
};

const isKeyPool = (name: SecretName): boolean => "isKeyPool" in secretTable[name];

const prefixOf = (name: SecretName): string => {
  const spec = secretTable[name];
  return "prefix" in spec ? spec.prefix : "";
};

/** The value as it is stored. Refused if no header can hold it; the message never quotes it. */
const storedText = (name: SecretName, text: string): string => {
  if (!isKeyPool(name)) {
    const prefix = prefixOf(name);
    if (!text.startsWith(prefix)) throw new OperatorError(`${name} must begin with ${prefix}`);
    if (isUsableKey(text)) return text;
    throw new OperatorError(`${name} must be one line of printable ASCII without spaces`);
  }
  const keys = keyLines(text);
  const malformed = keys.findIndex((key) => !isUsableKey(key));
  if (malformed >= 0) {
    throw new OperatorError(
      `${name} must have one key on each line, of printable ASCII without spaces: key ${malformed + 1} is not`,
    );
  }
  const copy = keys.findIndex((key, index) => keys.indexOf(key) < index);
  const copied = keys.indexOf(keys[copy] ?? "");
  if (copy >= 0)
    throw new OperatorError(`${name} must have each key once: keys ${copied + 1} and ${copy + 1} are the same`);
  return keys.join("\n");
};

const list = async ({ secrets, target }: AdminContext): Promise<Report> => {
  const rows = await Promise.all(
    secretNames.map(async (name) => {
      const { variable, description: is, kind } = secretTable[name];
      return { name, is, kind, set: await isSecretSet(secrets, target.environment[variable]) };
    }),
  );
  return {
    json: { secrets: rows },
    text: table(
      ["secret", "purpose", "kind", "set"],
      rows.map(({ name, is, kind, set }) => [name, is, kind, set ? "yes" : "no"]),
    ),
  };
};

/** A second version of the same value would replace the previous version, which is still accepted. */
const unchangedReport = (name: string): Report => ({
  json: { name, changed: false },
  text: `${name} has this value already: nothing was changed.`,
});

type SecretAction = "secrets set" | "secrets rotate";
type Named = { readonly name: SecretName; readonly why: string | undefined };

/** The service puts the entry into the audit log, and then the person the value into the secret. */
const recordChange = async (context: AdminContext, action: SecretAction, { name, why }: Named): Promise<void> => {
  requireReason(context, why);
  await perform(context, action, { name, why });
};

const put = async (context: AdminContext, action: SecretAction, named: Named, value: string): Promise<Report> => {
  const { environment } = context.target;
  const { name } = named;
  await recordChange(context, action, named);
  const spec = secretTable[name];
  const url = name === "webhook-token" ? `${context.target.baseUrl}/webhooks/upstream/${value}` : undefined;
  // Printed before the call: if its response is lost, the token may be set, and a second rotation would end its URL.
  if (url !== undefined) printMessage(`Setting the new URL for the upstream: ${url}`);
  await setSecret(context.secrets, environment[spec.variable], value);
  const keyIds = isKeyPool(name) ? keyLines(value).map(upstreamKeyId) : undefined;
  const delay = "isPresented" in spec ? "with the first event that needs it" : `within ${duration(SECRET_CACHE_MS)}`;
  const lines = [
    `${name} is set. The functions use it ${delay}, a first value within ${duration(SECRET_ABSENCE_CACHE_MS)}.`,
    ...(keyIds === undefined
      ? []
      : [
          `It holds ${keyIds.length === 1 ? "one key, with the id" : `${keyIds.length} keys, with the ids`} ${keyIds.join(" ")}`,
        ]),
    ...(url === undefined
      ? []
      : [`Give this new URL to the upstream: ${url}`, "The previous URL is accepted until the next rotation."]),
  ];
  return {
    json: { name, changed: true, ...(keyIds && { key_ids: keyIds }), ...(url && { webhook_url: url }) },
    text: lines.join("\n"),
  };
};
