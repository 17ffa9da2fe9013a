import * as z from "#zod";
import { OPERATOR_NAME } from "../../shared/console/person.ts";
import { methodOf } from "../../shared/contract/actions/action.ts";
import { type ActionName, actions, operationPath } from "../../shared/contract/actions/actions.ts";
import { type ProposalView, proposedData } from "../../shared/contract/actions/proposals.ts";
import { errorEnvelope } from "../../shared/contract/envelope.ts";
import { headers } from "../../shared/contract/headers.ts";
import type { Role } from "../../shared/contract/roles.ts";
import { jsonOf } from "../../shared/contract/values/json.ts";
import { phoneNumberOf } from "../../shared/contract/values/phone-number.ts";
import { InFlightError, NotAllowedError, NotFoundError, OperatorError } from "../../shared/platform/operator-error.ts";
import { signedHeaders } from "../aws/signed-headers.ts";
import { causeOf } from "./connection-error.ts";
import type { Target } from "./target.ts";

/** API Gateway answers within 30 s. */
const ANSWER_MS_MAX = 35_000;

const success = z.object({ data: z.unknown() });

/** The service stored a proposal: nothing has changed yet. */
export class ProposedError extends Error {
  override readonly name = "ProposedError";
  readonly proposal: ProposalView;
  constructor(proposal: ProposalView) {
    super(`It was proposed as ${proposal.proposal}`);
    this.proposal = proposal;
  }
}

/** Where the service is, and in whose name and which role requests are sent. */
export type ActionSender = {
  readonly target: Pick<Target, "baseUrl" | "name">;
  readonly by: string;
  readonly role: Role;
};

/** Sends an action as a page does, signed with the operator's AWS credentials; resolves with its output. */
export const sendAction = async (
  { target, by, role }: ActionSender,
  name: ActionName,
  input: Readonly<Record<string, unknown>>,
): Promise<unknown> => {
  // Beside the base URL's `/v1`.
  const url = new URL(`.${operationPath(role, name)}`, target.baseUrl);
  const isRead = actions[name].kind === "read";
  const method = methodOf(actions[name]);
  const isInBody = method === "POST";
  for (const [field, value] of Object.entries(isInBody ? {} : input)) {
    if (value === undefined) continue;
    if (phoneNumberOf(String(value)) !== undefined) throw phoneNumberInAddress();
    url.searchParams.set(field, String(value));
  }
  // AWS takes a plus for itself when it verifies a signature.
  url.search = url.search.replaceAll("+", "%20");
  const request = {
    method,
    headers: { [OPERATOR_NAME]: encodeURIComponent(by), ...(isInBody && { "content-type": "application/json" }) },
    ...(isInBody && { body: JSON.stringify(input) }),
  };
  const signed = await signedHeaders({ service: "execute-api", region: process.env.AWS_REGION ?? "" }, url, request);
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const unanswered = (error: unknown): never => {
    throw isRead ? causeOf(error) : unansweredChange(causeOf(error));
  };
  const response = await fetch(url, { ...request, headers: signed, signal }).catch(unanswered);
  const body = jsonOf(await response.text().catch(unanswered));
  if (response.status === 202)
    throw new ProposedError(z.extend(success, { data: proposedData }).parse(body).data.proposal);
  if (response.ok) return success.parse(body).data;
  throw refusalOf(response, body, { sent: `${request.method} ${url.pathname}`, isRead });
};

/** Logs keep the addresses of requests. */
const phoneNumberInAddress = (): OperatorError =>
  new OperatorError("A phone number must not be in the address of a request", {
    command: "subjects report phone_number reads it from standard input, and lists its orders",
  });

/** Without a connection nothing was sent. */
const unansweredChange = (cause: unknown): unknown =>
  cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED"
    ? cause
    : new Error(`No answer came: ${CHECK_FIRST}`, { cause });

const CHECK_FIRST = "check what changed before you retry";

/** What API Gateway says by itself, for example that the credentials have expired. */
const gatewayAnswer = z.object({ message: z.string() });

const refusalOf = (
  { status, headers: answered }: Response,
  body: unknown,
  { sent, isRead }: { readonly sent: string; readonly isRead: boolean },
): Error => {
  const code = answered.get(headers.errorCode);
  const { data } = errorEnvelope.safeParse(body);
  if (status === 403 && code === null) {
    const said = gatewayAnswer.safeParse(body).data?.message ?? "without a reason";
    return new OperatorError(
      `AWS refuses ${sent} (${said}): your credentials need execute-api:Invoke for it (--role names another role) and must not have expired, and this machine's clock must be right`,
    );
  }
  if (code === null || data === undefined) {
    const isUnknown = status >= 500 && !isRead;
    return new Error(`The service answered ${status} to ${sent}${isUnknown ? `: ${CHECK_FIRST}` : ""}`);
  }
  const fields = Object.entries(data.errors ?? {}).map(([field, messages]) => `${field}: ${messages.join(", ")}`);
  const message = [data.message, ...fields].join(". ");
  if (status === 409 && code === "in_flight") {
    return new InFlightError(message, Number(answered.get(headers.retryAfter)) * 1_000);
  }
  if (status === 404) return new NotFoundError(message);
  if (status === 403) return new NotAllowedError(message);
  return status < 500 ? new OperatorError(message) : new Error(message);
};
