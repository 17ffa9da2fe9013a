import * as z from "#zod";
import { actionPath } from "../../../shared/contract/actions/actions.ts";
import { roles } from "../../../shared/contract/roles.ts";
import type { ConsoleToken } from "../console-token.ts";
import type { Stage } from "../context.ts";
import { callable } from "../emulator.ts";
import { assertThat, found, type Outcome, skipped } from "../outcome.ts";
import { requestCounts } from "../request-counts.ts";

const me = z.object({ data: z.object({ by: z.string(), roles: z.array(z.enum(roles)) }) });

/**
 * Tries the console with a real token. AWS does not document that the `authorization` header reaches a function behind
 * an authorizer: it is seen here.
 */
export const tryConsole = async ({ outputs }: Stage, given: ConsoleToken | undefined): Promise<Outcome> => {
  if (given === undefined) return skipped("no CONSOLE_ID_TOKEN is set");
  const { token, role } = given;
  const root = callable(outputs.ConsoleUrl ?? "").replace(/\/console$/, "");
  const call = (path: string, authorization?: string, method = "GET") => {
    requestCounts.requests += 1;
    return fetch(`${root}${path}`, { method, ...(authorization !== undefined && { headers: { authorization } }) });
  };

  const page = await call("/console/accounts");
  const policy = page.headers.get("content-security-policy") ?? "none";
  assertThat(page.status === 200 && policy.includes("default-src 'none'"), `a page: ${page.status}, policy ${policy}`);

  const withoutToken = await call(actionPath("me"));
  assertThat(withoutToken.status === 401, `a request without a token: ${withoutToken.status}, not 401`);
  const forged = await call(actionPath("me"), `Bearer ${withOtherSignature(token)}`);
  assertThat(forged.status === 401, `a token with another signature: ${forged.status}, not 401`);

  const answer = await call(actionPath("me"), `Bearer ${token}`);
  const body = await answer.text();
  assertThat(answer.status === 200, `a signed-in person: ${answer.status} ${body}; the log of console-api says why`);
  const { data } = me.parse(JSON.parse(body));
  const wanted = role === null ? [] : [role];
  assertThat(data.roles.join() === wanted.join(), `the person has the roles [${data.roles}], and not [${wanted}]`);

  const change = await call("/console-api/no/such/action", `Bearer ${token}`, "POST");
  const code = change.headers.get("x-error-code");
  assertThat(change.status === 404 && code === "not_found", `a POST of no action: ${change.status} ${code}, not 404`);
  return found(`API Gateway passes the token on, and its person is ${role === null ? "known" : `an ${role}`}`);
};

/** The same claims, which nobody signed. */
const withOtherSignature = (token: string): string => {
  const [header = "", payload = "", signature = ""] = token.split(".");
  return [header, payload, [...signature].toReversed().join("")].join(".");
};
