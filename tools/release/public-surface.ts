import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import * as z from "zod";
import { stageSettings } from "../../infra/stage-settings.ts";
import { type ActionName, actionNames, actions } from "../../shared/contract/actions/actions.ts";
import { marginReportSchema } from "../../shared/contract/margin-report.ts";
import { openApiDocument } from "../../shared/contract/openapi.ts";
import { clockReportSchema } from "../../shared/contract/refund-clock-report.ts";
import { adminProgram } from "../admin/program.ts";
import { addClient } from "./client-surface.ts";
import { addSchema } from "./json-schema-surface.ts";
import { demandPart, finished, newDraft, type Surface, type SurfaceDraft } from "./surface-schema.ts";

const content = z.record(z.string(), z.object({ schema: z.unknown() })).default({});
const ref = z.object({ $ref: z.string() });
const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  schema: z.unknown(),
});
const response = z.object({
  description: z.string(),
  headers: z.record(z.string(), z.unknown()).default({}),
  content,
});
const operation = z.object({
  parameters: z.array(z.unknown()).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.unknown()).default({}),
});
const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.record(z.string(), operation)),
  components: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** Adds the interface for callers, and the events that it sends. */
export const addOpenApi = (draft: SurfaceDraft, document: unknown): void => {
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
    if (option.mandatory) demandPart(draft, path, String(option.long));
  }
  for (const sub of command.commands) {
    const subPath = `${path} ${sub.name()}`;
    if (sub.commands.length === 0) draft.offers.set(subPath, "");
    addCommands(draft, sub, subPath);
  }
};

/** What a command prints where it adds up the pages of an action. */
const printed: Partial<Record<ActionName, z.ZodType>> = {
  "margin report": marginReportSchema,
  "refund-clock report": clockReportSchema,
};

const addOutputs = (draft: SurfaceDraft): void => {
  for (const name of actionNames) {
    const { command, output } = actions[name];
    if (command === "none") continue;
    const schema = z.toJSONSchema(printed[name] ?? output, { io: "output", unrepresentable: "any", reused: "inline" });
    addSchema({ draft, direction: "read", resolve: noRefs }, `admin ${name} --json`, schema);
  }
};

const addSettings = (draft: SurfaceDraft): void => {
  const schema = z.toJSONSchema(stageSettings, { io: "input", unrepresentable: "any", reused: "inline" });
  addSchema({ draft, direction: "sent", resolve: noRefs }, "stage", schema);
};

/** What users of a release rely on: the interface, webhooks, commands, the client's types and a stage's settings. */
export const publicSurface = (): Surface => {
  const draft = newDraft();
  addOpenApi(draft, openApiDocument());
  addCommands(draft, adminProgram(), "admin");
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
