import * as z from "#zod";
import { type Action, methodOf } from "../../shared/contract/actions/action.ts";
import { type ActionName, type ActionOutput, actionPath, actions } from "../../shared/contract/actions/actions.ts";
import { type ProposalView, proposedData } from "../../shared/contract/actions/proposals.ts";
import { errorEnvelope } from "../../shared/contract/envelope.ts";
import type { FieldErrors } from "../../shared/contract/errors.ts";
import { headers } from "../../shared/contract/headers.ts";
import { jsonOf } from "../../shared/contract/values/json.ts";
import { withTimes } from "../components/values/time-text.ts";
import { liveSession, refuseSession, type Session } from "../sign-in/session.ts";
import { ActionError } from "./action-error.ts";

/** API Gateway answers within 30 s. */
const ANSWER_MS_MAX = 35_000;
/** The service's clock may be behind the provider's, so a new token is not valid yet. */
const NEW_SESSION_MS = 10_000;
const CLOCK_SKEW_MS = 2_000;

/** What the page sends, before the service parses it. */
export type SentInput<Name extends ActionName> = z.input<(typeof actions)[Name]["input"]>;

type Options = { readonly signal?: AbortSignal /** Of the next page of a read. */; readonly cursor?: string };

const table: {
  readonly [Name in ActionName]: Pick<Action, "kind" | "inBody"> & {
    readonly output: z.ZodMiniType<ActionOutput<Name>>;
  };
} = actions;
const proposedAnswer = z.object({ data: proposedData });
const successEnvelope = z.object({ status: z.literal(true), data: z.unknown() });

/** The service keeps the change as a proposal: another person approves it. */
export class ProposedChange extends Error {
  override readonly name = "ProposedChange";
  readonly proposal: ProposalView;
  constructor(proposal: ProposalView) {
    super(`${proposal.consequence}: this is proposed until another person approves it. Nothing has changed yet.`);
    this.proposal = proposal;
  }
}

/** Sends an action to the service. Throws ActionError, or ProposedChange. */
export const callAction = async <Name extends ActionName>(
  name: Name,
  input: SentInput<Name>,
  options: Options = {},
): Promise<ActionOutput<Name>> => {
  const isChange = table[name].kind === "change";
  const session = liveSession();
  if (session === undefined) throw new ActionError("You are signed out.", { status: 401 });
  if (isChange && !navigator.onLine) throw new ActionError("You are offline.");

  let response = await send(name, input, session, options);
  if (response.status === 401 && Date.now() - session.signedInAtMs < NEW_SESSION_MS) {
    await new Promise((resolve) => setTimeout(resolve, CLOCK_SKEW_MS));
    response = await send(name, input, session, options);
  }
  if (response.status === 401) {
    refuseSession(session.token);
    throw new ActionError("Your sign-in has ended. Sign in again.", { status: 401 });
  }
  const body = await readJson(response, isChange);
  if (!response.ok) throw errorOf(response, body, isChange);
  if (response.status === 202) {
    const proposed = proposedAnswer.safeParse(body);
    throw proposed.success
      ? new ProposedChange(proposed.data.data.proposal)
      : olderPage(response, true, proposed.error);
  }
  const answer = successEnvelope.safeParse(body);
  const output = table[name].output.safeParse(answer.data?.data);
  if (output.success) return output.data;
  throw olderPage(response, isChange, answer.error ?? output.error);
};

const olderPage = ({ status }: Response, isChange: boolean, cause: unknown): ActionError =>
  new ActionError(
    isChange
      ? "This page is older than the service, and cannot show the answer. Reload it."
      : "This page is older than the service. Reload it.",
    { status, ...(isChange && { isDone: true }) },
    { cause },
  );

const send = async <Name extends ActionName>(
  name: Name,
  input: SentInput<Name>,
  { token }: Session,
  { signal, cursor }: Options,
): Promise<Response> => {
  const isChange = table[name].kind === "change";
  const method = methodOf(table[name]);
  const query = method === "POST" ? "" : queryOf(input, cursor);
  const timeout = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    return await fetch(`${actionPath(name)}${query}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(method === "POST" && { "content-type": "application/json" }) },
      ...(method === "POST" && { body: JSON.stringify(input) }),
      cache: "no-store",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    throw lostAnswer(isChange, error);
  }
};

const queryOf = (input: object, cursor: string | undefined): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...input, cursor })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
};

const lostAnswer = (isChange: boolean, cause: unknown): ActionError =>
  isChange
    ? new ActionError(
        "No answer arrived. Check the page, which was loaded again, before you retry.",
        { isOutcomeUnknown: true },
        { cause },
      )
    : new ActionError("The service cannot be reached. Check your network.", {}, { cause });

const readJson = async (response: Response, isChange: boolean): Promise<unknown> => {
  try {
    return jsonOf(await response.text());
  } catch (error) {
    throw lostAnswer(isChange, error);
  }
};

const errorOf = (response: Response, body: unknown, isChange: boolean): ActionError => {
  const { status } = response;
  const envelope = errorEnvelope.safeParse(body).data;
  const code = response.headers.get(headers.errorCode);
  const retryAfter = Number(response.headers.get(headers.retryAfter) ?? Number.NaN);
  const fields = envelope?.errors && withReadableTimes(envelope.errors);
  const details = {
    status,
    ...(code !== null && { code }),
    ...(fields !== undefined && { fields }),
    ...(Number.isFinite(retryAfter) && { retryAfterS: retryAfter }),
  };
  if (status >= 500 && isChange) {
    return new ActionError("The service failed. Check the page, which was loaded again, before you retry.", {
      ...details,
      isOutcomeUnknown: true,
    });
  }
  if (status === 429) return new ActionError("Too many requests. Wait a few seconds and try again.", details);
  if (status >= 500) return new ActionError("The service failed. Try again in a moment.", details);
  // A form shows these at its fields; what is read has none.
  const messages = isChange ? [] : Object.values(fields ?? {}).flat();
  if (messages.length > 0) return new ActionError(withFullStop(messages.join(". ")), details);
  return new ActionError(
    envelope === undefined ? `The service refused with status ${status}.` : withFullStop(withTimes(envelope.message)),
    details,
  );
};

const withReadableTimes = (errors: FieldErrors): FieldErrors =>
  Object.fromEntries(Object.entries(errors).map(([name, messages]) => [name, messages.map(withTimes)]));

const withFullStop = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);
