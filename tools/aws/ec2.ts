import { SettingsError } from "../../infra/settings-error.ts";
import { signedHeaders } from "./signed-headers.ts";

const MS_MAX = 10_000;
const form = { "content-type": "application/x-www-form-urlencoded" };

/**
 * Sends one request of EC2's Query API; resolves with the XML. Without the SDK's client of EC2, which is the largest of
 * all and would serve two requests. Source: AWS, "Query requests for Amazon EC2".
 */
export const askEc2 = async (
  action: string,
  region: string,
  filters: Readonly<Record<string, string>>,
): Promise<string> => {
  const url = new URL(process.env.AWS_ENDPOINT_URL ?? `https://ec2.${region}.amazonaws.com`);
  const parameters = new URLSearchParams({ Action: action, Version: "2016-11-15" });
  for (const [index, [name, value]] of Object.entries(filters).entries()) {
    parameters.set(`Filter.${index + 1}.Name`, name);
    parameters.set(`Filter.${index + 1}.Value.1`, value);
  }
  const body = parameters.toString();
  const headers = await signedHeaders({ service: "ec2", region }, url, { method: "POST", headers: form, body });
  const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(MS_MAX) });
  const xml = await response.text();
  if (response.ok) return xml;
  const [code, message] = ["Code", "Message"].map((tag) => textsIn(xml, tag)[0] ?? "");
  throw new SettingsError(`AWS EC2 refuses ${action}. ${code}: ${message}`);
};

/** The texts of all elements of this name. */
export const textsIn = (xml: string, tag: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, "g"))].map(([, text = ""]) => text);
