import { randomBytes } from "node:crypto";
import { PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import type { Command } from "commander";
import * as z from "zod";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import type { environment } from "../../../shared/platform/env.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { SECRET_ABSENCE_CACHE_MS, SECRET_CACHE_MS, secret } from "../../../shared/platform/secrets.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import { type AdminContext, recordAudited } from "../context.ts";
import { whyField } from "../fields.ts";
import { readStdin } from "../stdin.ts";
import { duration, table } from "../views/print.ts";

type SecretSpec = {
  readonly id: Extract<keyof typeof environment.shape, `${string}_SECRET_ID`>;
  readonly is: string;
  /** `filled` by the operator, `generated` and rotated here, or `fixed` for ever. */
  readonly kind: "filled" | "generated" | "fixed";
  readonly lengthMin?: number;
  /** The upstream sends it or signs with it: an event that fits no known version makes the functions fetch it again. */
  readonly isPresented?: true;
};

const LENGTH_MIN = 32;

/** Every secret by its name in commands. */
const known: Readonly<Record<string, SecretSpec>> = {
  "upstream-key": { id: "UPSTREAM_KEY_SECRET_ID", is: "our live key at the upstream", kind: "filled" },
  "upstream-webhook-hmac": {
    id: "UPSTREAM_HMAC_SECRET_ID",
    is: "with which the upstream signs its events",
    kind: "filled",
    lengthMin: LENGTH_MIN,
    isPresented: true,
  },
  "webhook-token": {
    id: "WEBHOOK_TOKEN_SECRET_ID",
    is: "ends the path of the upstream's events",
    kind: "generated",
    isPresented: true,
  },
  "replay-key": { id: "REPLAY_KEY_SECRET_ID", is: "seals identity results for 10 minutes", kind: "generated" },
  "reference-key": { id: "REFERENCE_KEY_SECRET_ID", is: "names transactions", kind: "fixed" },
  "webhook-key": { id: "WEBHOOK_KEY_SECRET_ID", is: "seals the accounts' webhook secrets", kind: "fixed" },
};

export const addSecrets = (program: Command): void => {
  const group = addGroup(program, "secrets", "Set and rotate the service's secrets");
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: "list the secrets, who sets them, and whether they are set; never their values",
    example: "list",
    input: z.object({}),
    run: list,
  });
  addCommand(group, {
    usage: "set <name>",
    summary: "set upstream-key or upstream-webhook-hmac to the value on standard input",
    example: "set upstream-key < key.txt",
    options: [why],
    input: z.object({ name: z.string(), why: whyField.optional() }),
    run: async (context, { name, why }) => {
      const spec = specOf(name);
      if (spec.kind !== "filled") throw new OperatorError(`${name} cannot be set${hintOf(name, spec)}`);
      const value = await readStdin(name);
      if (!/^[\x21-\x7e]+$/.test(value))
        throw new OperatorError(`${name} must be one line of printable ASCII without spaces`);
      const { lengthMin = 1 } = spec;
      if (value.length < lengthMin) throw new OperatorError(`${name} must have at least ${lengthMin} characters`);
      if ((await secret(context.secrets, context.target.environment[spec.id]).value()) === value)
        return unchanged(name);
      return put(context, name, value, { action: "secrets set", why });
    },
  });
  addCommand(group, {
    usage: "rotate <name>",
    summary: "generate a new webhook-token or replay-key",
    example: "rotate webhook-token",
    options: [why],
    input: z.object({ name: z.string(), why: whyField.optional() }),
    run: async (context, { name, why }) => {
      const spec = specOf(name);
      if (spec.kind !== "generated") throw new OperatorError(`${name} cannot be rotated${hintOf(name, spec)}`);
      return put(context, name, randomBytes(32).toString("base64url"), { action: "secrets rotate", why });
    },
  });
};

const specOf = (name: string): SecretSpec => {
  const spec = Object.hasOwn(known, name) ? known[name] : undefined;
  if (spec === undefined)
    throw new OperatorError(`There is no secret ${name}. Use one of ${Object.keys(known).join(", ")}`);
  return spec;
};

const hintOf = (name: string, { kind, is }: SecretSpec): string => {
  if (kind === "filled") return `. Use secrets set ${name}`;
  return kind === "generated" ? `. Use secrets rotate ${name}` : `: it ${is}, which must never change`;
};

const list = async ({ secrets, target }: AdminContext): Promise<Report> => {
  const rows = await Promise.all(
    Object.entries(known).map(async ([name, { id, is, kind }]) => ({
      name,
      is,
      kind,
      set: (await secret(secrets, target.environment[id]).value()) !== undefined,
    })),
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
const unchanged = (name: string): Report => ({
  json: { name, changed: false },
  text: `${name} has this value already: nothing was changed.`,
});

const put = async (
  context: AdminContext,
  name: string,
  value: string,
  auditFields: { readonly action: string; readonly why: string | undefined },
): Promise<Report> => {
  const { environment } = context.target;
  await recordAudited(context, SERVICE, { ...auditFields, details: { name } });
  const { id, isPresented } = specOf(name);
  const url = name === "webhook-token" ? `${context.target.baseUrl}/webhooks/upstream/${value}` : undefined;
  // Printed before the call: if its response is lost, the token may be set, and a second rotation would end its URL.
  if (url !== undefined) process.stderr.write(`Setting the new URL for the upstream: ${url}\n`);
  const command = new PutSecretValueCommand({ SecretId: environment[id], SecretString: value });
  await context.secrets.send(command);
  const delay = isPresented ? "with the first event that needs it" : `within ${duration(SECRET_CACHE_MS)}`;
  const lines = [
    `${name} is set. The functions use it ${delay}, a first value within ${duration(SECRET_ABSENCE_CACHE_MS)}.`,
    ...(url === undefined
      ? []
      : [`Give this new URL to the upstream: ${url}`, "The previous URL is accepted until the next rotation."]),
  ];
  return { json: { name, changed: true, ...(url && { webhook_url: url }) }, text: lines.join("\n") };
};
