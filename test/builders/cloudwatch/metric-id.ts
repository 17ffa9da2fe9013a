import * as z from "#zod";
import { mentions, resourceName, type StackTemplate } from "../templates/templates.ts";

/** One name for a metric with its dimensions, in whatever order they stand. */
export const metricIdOf = (namespace: string, name: string, dimensions: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(dimensions).map(([key, value]) => `${key}=${value}`);
  return [namespace, name, ...pairs.toSorted()].join(" ");
};

const nameProperties: Readonly<Record<string, string>> = {
  "AWS::Lambda::Function": "FunctionName",
  "AWS::SQS::Queue": "QueueName",
};

/**
 * The name in a value of a template: the name of a function or queue, or else the logical id of a resource; of one in
 * another stack its name without CDK's suffix.
 */
export const nameIn = (template: StackTemplate, value: unknown): string => {
  if (typeof value === "string") return value;
  const found = template.every.find(({ id }) => mentions(value, id));
  if (found === undefined) return resourceName(value);
  return z.string().safeParse(found.Properties[nameProperties[found.Type] ?? ""]).data ?? found.id;
};
