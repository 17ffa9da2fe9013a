import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import * as z from "#zod";
import { stageSettings } from "../../infra/stage-settings.ts";
import { type ActionName, actionNames, actions } from "../../shared/contract/actions/actions.ts";
import { openApiDocument } from "../../shared/contract/openapi/openapi.ts";
import { marginReportSchema } from "../../shared/contract/reports/margin-report.ts";
import { clockReportSchema } from "../../shared/contract/reports/refund-clock-report.ts";
import { REQUIRED } from "../admin/command.ts";
import { adminProgram } from "../admin/program.ts";
import { addClient } from "./client-surface.ts";
import { addSchema } from "./json-schema-surface.ts";
import { demandPart, finished, newDraft, type Surface, type SurfaceDraft } from "./surface-schema.ts";

const content = z._default(z.record(z.string(), z.object({ schema: z.unknown() })), {});
const ref = z.object({ $ref: z.string() });
const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z._default(z.boolean(), false),
  schema: z.unknown(),
});
const response = z.object({
  description: z.string(),
  headers: z._default(z.record(z.string(), z.unknown()), {}),
  content,
});
const operation = z.object({
  parameters: z._default(z.array(z.unknown()), []),
  requestBody: z.optional(z.object({ content })),
  responses: z._default(z.record(z.string(), z.unknown()), {}),
});
const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.record(z.string(), operation)),
  components: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** Adds the interface for callers, and the events that it sends. */
const addOpenApi = (draft: SurfaceDraft, document: unknown): void => {
  const { paths, webhooks, components } = openApi.parse(document);
  const resolve = (path: string): unknown => {
    const [, , section = "", name = ""] = path.split("/");
    return components[section]?.[name];
  };
  const resolved = (value: unknown): unknown => {
    const { data } = ref.safeParse(value);
    return data === undefined ? value : resolve(data.$ref);
  };
  const add = (direction: "sent" | "read", path: string, schema: unknown): void =>
    addSchema({ draft, direction, resolve }, path, schema);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { parameters, requestBody, responses }] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      draft.offers.set(name, "");
      for (const each of parameters.map((found) => parameter.parse(resolved(found)))) {
        const field = `${name} ${each.in} ${each.name}`;
        draft.offers.set(field, "");
        if (each.required) demandPart(draft, name, `${each.in} ${each.name}`);
        add("sent", field, each.schema);
      }
      for (const { schema } of Object.values(requestBody?.content ?? {})) add("sent", `${name} body`, schema);
      for (const [status, found] of Object.entries(responses)) {
        const answer = response.parse(resolved(found));
        draft.offers.set(`${name} ${status}`, "");
        for (const [, code] of answer.description.matchAll(/^`(\w+)`:/gm))
          draft.offers.set(`${name} ${status} ${code}`, "");
        for (const header of Object.keys(answer.headers)) draft.offers.set(`${name} ${status} header ${header}`, "");
        for (const { schema } of Object.values(answer.content))
          if (schema) add("read", `${name} ${status} body`, schema);
      }
    }
  }
  for (const [event, methods] of Object.entries(webhooks)) {
    for (const { requestBody } of Object.values(methods))
      for (const { schema } of Object.values(requestBody?.content ?? {})) add("read", `webhook ${event}`, schema);
  }
};

const noRefs = (path: string): never => {
  throw new Error(`${path}: a schema of zod is written out`);
};

/** Adds the operators' commands, with their arguments, options and the output of `--json` where a schema states it. */
const addCommands = (draft: SurfaceDraft, command: Command, path: string): void => {
  for (const argument of command.registeredArguments) {
    draft.offers.set(`${path} <${argument.name()}>`, argument.variadic ? "several" : "one");
    if (argument.required) demandPart(draft, path, `<${argument.name()}>`);
  }
  for (const option of command.options) {
    draft.offers.set(`${path} ${option.long}`, option.flags.replace(/^.*?--[\w-]+ ?/, ""));
    if (option.description.endsWith(REQUIRED)) demandPart(draft, path, String(option.long));
  }
  for (const sub of command.commands) {
    const subPath = `${path} ${sub.name()}`;
    if (sub.commands.length === 0) draft.offers.set(subPath, "");
    addCommands(draft, sub, subPath);
  }
};

const noCursor = { next_cursor: true } as const;
const { balance, expected, difference } = actions["wallet verify"].output.shape;

/** What a command prints in place of its action's output. */
const printed: Partial<Record<ActionName, z.ZodMiniType>> = {
  "margin report": marginReportSchema,
  "refund-clock report": clockReportSchema,
  "wallet statement": z.omit(actions["wallet statement"].output, noCursor),
  "wallet verify": z.union([
    actions["wallet verify"].output,
    z.object({
      ok: z.boolean(),
      wallets: z.array(
        z.object({
          ...{ account_id: z.string(), ok: z.boolean() },
          ...{ balance: z.nullable(balance), expected: z.nullable(expected), difference: z.nullable(difference) },
        }),
      ),
    }),
  ]),
  "periods close": actions["periods show"].output,
  "periods accounts": z.omit(actions["periods accounts"].output, noCursor),
  "periods verify": z.pick(actions["periods verify"].output, { ok: true, month: true, differences: true }),
  "consents export": z.omit(actions["consents export"].output, noCursor),
  "subjects report": z.extend(z.omit(actions["subjects report"].output, noCursor), { limits: z.string() }),
  "subjects erase": z.extend(z.omit(actions["subjects erase"].output, noCursor), {
    result: z.enum(["erased", "nothing_removed", "nothing_found"]),
    fields: z.array(z.object({ field: z.string(), result: z.string(), because: z.string() })),
  }),
  "transactions list": z.union([
    z.omit(actions["transactions list"].output, noCursor),
    actions["transactions waiting"].output,
  ]),
  "reconciliation cases list": z.omit(actions["reconciliation cases list"].output, noCursor),
};

/** What the command of an action prints with `--json`. */
export const printedSchema = (name: ActionName): z.ZodMiniType => printed[name] ?? actions[name].output;

const addOutputs = (draft: SurfaceDraft): void => {
  for (const name of actionNames) {
    if (actions[name].command === "none") continue;
    const schema = z.toJSONSchema(printedSchema(name), { io: "output", unrepresentable: "any", reused: "inline" });
    addSchema({ draft, direction: "read", resolve: noRefs }, `admin ${name} --json`, schema);
  }
};

const addSettings = (draft: SurfaceDraft): void => {
  const schema = z.toJSONSchema(stageSettings, { io: "input", unrepresentable: "any", reused: "inline" });
  addSchema({ draft, direction: "sent", resolve: noRefs }, "stage", schema);
};

/** What users of a release rely on: the interface, webhooks, commands, the client's types and a stage's settings. */
export const publicSurface = async (): Promise<Surface> => {
  const draft = newDraft();
  addOpenApi(draft, openApiDocument());
  addCommands(draft, await adminProgram({ isComplete: true }), "admin");
  addOutputs(draft);
  addSettings(draft);
  const folder = mkdtempSync(join(tmpdir(), "client-types-"));
  try {
    addClient(draft, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return finished(draft);
};
