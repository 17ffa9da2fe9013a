import { createHash } from "node:crypto";
import * as z from "#zod";
import { identityOfPerson } from "../access/person-item.ts";
import type { ActionContext } from "../actions/action-context.ts";
import type { ActionRuns } from "../actions/action-runs.ts";
import { principalOf } from "../actions/four-eyes.ts";
import { RESPONSE_BYTES_MAX, responseBytes } from "../call/response-size.ts";
import { type Action, type ActionTable, methodOf, needsReason } from "../contract/actions/action.ts";
import type { ProposalView } from "../contract/actions/proposals.ts";
import { type ErrorDetails, errors, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { BODY_BYTES_MAX } from "../contract/limits.ts";
import { phoneDigitsShown, type Role, roles } from "../contract/roles.ts";
import type { StageColour } from "../contract/stage-colour.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { maskedDigits, maskPhones } from "../contract/values/mask-phones.ts";
import { parseInput } from "../lambda/api-request.ts";
import { type ApiResponse, envelopedError, successResponse } from "../lambda/api-response.ts";
import { type Actor, recordAudit, SERVICE } from "../ledger/audit.ts";
import type { AuditedLedger } from "../ledger/ledger.ts";
import { errorFields, LOCAL_STAGE, log, stageName } from "../platform/log.ts";
import { InFlightError, NotAllowedError, NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { isRecent } from "../platform/time.ts";
import { authorise, ownedAccounts, rolesOf } from "./authorisation.ts";
import type { ConsoleSettings } from "./console-settings.ts";
import {
  type ConsoleEvent,
  consoleEvent,
  type Person,
  readOperator,
  readPerson,
  UnverifiedTokenError,
  WrongTokenError,
} from "./person.ts";

/** The part of an action's context that all requests share. */
type ConsoleStores = Pick<ActionContext, "ledger">;
/** The rest of it. */
type RequestContext = Required<Pick<ActionContext, "actor" | "capacity" | "request">>;

/** A table each of whose names has an action. */
type Actions<Table> = ActionTable & { readonly [Name in keyof Table]: Action };

/** Stores what a person asks for as a proposal; undefined if the person may do it alone. */
type Propose<Context> = (context: Context, name: string, input: object) => Promise<ProposalView | undefined>;

/** Who sent a request. */
type SignedIn = {
  readonly actor: Actor;
  readonly roles: readonly Role[];
  readonly person: Pick<Person, "email" | "groups">;
};

/** What is known of a request so far, for its log line. */
type Progress = { route?: string; role?: string; account?: string; person?: string; isCommand?: boolean };

type Serve = (request: ConsoleEvent, signedIn: SignedIn, progress: Progress) => Promise<ApiResponse>;

/** How long one entry stands for the same read by the same person: pages read again by themselves. */
const READ_RECORDED_MS = 15 * MINUTE_MS;
const READS_REMEMBERED_MAX = 1_000;

/**
 * Records that a person with a role saw personal data, before it is shown. An instance leaves out what it has
 * recorded less than 15 minutes ago, and further pages. It remembers a hash of what was asked, because two numbers may be
 * one after masking.
 */
const readRecorder = (ledger: AuditedLedger) => {
  const recordedAtMs = new Map<string, number>();
  return async (actor: Actor, action: string, account: string | undefined, input: object): Promise<void> => {
    const { cursor: _cursor, account: _account, ...asked } = { cursor: undefined, account: undefined, ...input };
    const given = Object.entries(asked).filter(([, value]) => typeof value === "string" || typeof value === "number");
    const read = {
      ...actor,
      audit_log: account ?? SERVICE,
      action,
      details: readDetails.parse(Object.fromEntries(given)),
    };
    const key = createHash("sha256")
      .update(JSON.stringify([read, given]))
      .digest("base64url");
    const nowMs = ledger.clock();
    if (isRecent(recordedAtMs.get(key) ?? Number.NEGATIVE_INFINITY, READ_RECORDED_MS, nowMs)) return;
    await recordAudit(ledger, read);
    if (recordedAtMs.size >= READS_REMEMBERED_MAX) recordedAtMs.clear();
    recordedAtMs.set(key, nowMs);
  };
};

/** What a person typed may be a phone number, or another number of a person. */
const readDetails = z.record(z.string(), z.union([z.pipe(z.string(), z.transform(maskedDigits)), z.number()]));

/**
 * The handler of actions: a GET for a read, a POST for a change, below /console-api for people who signed in and
 * below /operations for operators. Order of checks: token or signature, route, fields, permission, reason.
 */
export const consoleHandler = <Table extends Actions<Table>, Stores extends ConsoleStores>(
  actions: Table,
  runs: ActionRuns<Table, Stores & RequestContext>,
  /** Absent if the stage has no console: then it serves operators alone. */
  settings: ConsoleSettings | undefined,
  stores: Stores,
  {
    bodyBytesMax = BODY_BYTES_MAX,
    propose = async () => undefined,
  }: { readonly bodyBytesMax?: number; readonly propose?: Propose<Stores & RequestContext> } = {},
) => {
  const recordRead = readRecorder(stores.ledger);
  const names = Object.keys(actions).filter((name): name is keyof Table & string => Object.hasOwn(actions, name));
  const byRoute = new Map(
    names.map((name) => [
      routeOf(name, actions[name]),
      serveAction<Table, typeof name, Stores>(
        {
          stores,
          bodyBytesMax,
          colour: settings?.colour,
          propose: (context, input) => propose(context, name, input),
        },
        actions[name],
        runs[name],
        (actor, account, input) => recordRead(actor, name, account, input),
      ),
    ]),
  );

  const answer = async (request: ConsoleEvent, progress: Progress): Promise<ApiResponse> => {
    const signedIn = readSignedIn(request, settings, stores.ledger.clock());
    progress.person = signedIn.actor.person?.sub ?? signedIn.actor.caller_arn;
    progress.role = signedIn.roles.join() || "none";
    progress.isCommand = signedIn.actor.caller_arn !== undefined;
    const route = actionRoute(request);
    const serve = route === undefined ? undefined : byRoute.get(route);
    if (route === undefined || serve === undefined)
      throw new ServiceError("not_found", { message: "There is no such action" });
    progress.route = route;
    return serve(request, signedIn, progress);
  };

  return async (event: unknown): Promise<ApiResponse> => {
    const startedAtMs = Date.now();
    const request = consoleEvent.parse(event);
    const { requestId } = request.requestContext;
    const progress: Progress = {};
    const response = await answer(request, progress).catch((error: unknown) => errorAnswer(error, requestId, progress));
    response.headers[headers.requestId] = requestId;
    log.info("console.answered", {
      request_id: requestId,
      route: progress.route,
      status: response.statusCode ?? 200,
      code: response.headers[headers.errorCode],
      role: progress.role,
      account: progress.account,
      person: progress.person,
      duration_ms: Date.now() - startedAtMs,
    });
    return response;
  };
};

const USER_AGENT_LENGTH_MAX = 200;

/** Where a request came from. The browser or command chooses what it calls itself: it is masked before it is cut. */
const originOf = ({ headers, requestContext }: ConsoleEvent): Pick<Actor, "source_ip" | "user_agent"> => ({
  source_ip: requestContext.http.sourceIp,
  ...(headers["user-agent"] !== undefined && {
    user_agent: maskedDigits(headers["user-agent"]).slice(0, USER_AGENT_LENGTH_MAX).toWellFormed(),
  }),
});

const readSignedIn = (request: ConsoleEvent, settings: ConsoleSettings | undefined, nowMs: number): SignedIn => {
  const origin = originOf(request);
  const actor = readOperator(request);
  if (actor !== undefined) {
    // IAM allows paths, and the path has the role.
    const role = roles.find((each) => each === request.pathParameters?.role);
    return { actor: { ...actor, ...origin }, roles: role === undefined ? [] : [role], person: { groups: [] } };
  }
  if (settings === undefined) throw new UnverifiedTokenError("The stage has no console, so nobody signs in");
  const person = readPerson(request, settings, nowMs);
  const { by, issuer, sub } = person;
  return { actor: { by, person: { issuer, sub }, ...origin }, roles: rolesOf(person, settings), person };
};

const routeOf = (name: string, action: Action): string => `${methodOf(action)} ${name.replaceAll(" ", "/")}`;

/** The stage of an HTTP API whose paths have no prefix. */
const DEFAULT_STAGE = "$default";

/**
 * The path of the route with its parameters filled in, below what says who asks; undefined if the request had another
 * one. IAM authorises a path, which has the role: AWS does not document whether it resolves `..` or encodings before.
 * `rawPath` is decoded, as the parameters are, and has the name of a stage other than `$default` in front; it has no
 * key of a mapping of a domain. Sources: AWS, "Create AWS Lambda proxy integrations for HTTP APIs", payload format differences;
 * captured events in fastify/aws-lambda-fastify 169, hotsock/voker (vokerhttp/testdata), logandk/serverless-wsgi 191.
 */
const actionRoute = ({ routeKey, rawPath, pathParameters, requestContext }: ConsoleEvent): string | undefined => {
  const path = routeKey
    .replace(/^\S+ /, "")
    .replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => pathParameters?.[name] ?? "");
  const { stage } = requestContext;
  if (rawPath !== (stage === DEFAULT_STAGE ? path : `/${stage}${path}`)) return undefined;
  return `${requestContext.http.method} ${path.replace(/^\/(?:console-api|operations\/[^/]*)\//, "")}`;
};

/** What all actions are served with. */
type Served<Stores> = {
  readonly stores: Stores;
  readonly bodyBytesMax: number;
  readonly colour: StageColour | undefined;
  readonly propose: (context: Stores & RequestContext, input: object) => Promise<ProposalView | undefined>;
};

const reasonField = z.object({ why: z.optional(z.string()) });

const serveAction =
  <Table extends Actions<Table>, Name extends keyof Table, Stores extends ConsoleStores>(
    { stores, bodyBytesMax, colour, propose }: Served<Stores>,
    action: Table[Name],
    run: ActionRuns<Table, Stores & RequestContext>[Name],
    recordRead: (actor: Actor, account: string | undefined, input: object) => Promise<void>,
  ): Serve =>
  async (request, { actor, person, roles: held }, progress) => {
    // The path's only parameter is the action.
    const input = parseInput<Table[Name]["input"]>(action.input, { ...request, pathParameters: null }, bodyBytesMax);
    const { capacity, account } = await authorise(stores.ledger, { person, roles: held }, action, input);
    progress.role = capacity;
    if (account !== undefined) progress.account = account;
    const isBinding = actor.person !== undefined || stageName() !== LOCAL_STAGE;
    if (isBinding && needsReason(action) && reasonField.parse(input).why === undefined) {
      throw new ServiceError("missing_parameter", { fields: { why: ["Is required"] } });
    }
    const context: Stores & RequestContext = {
      ...stores,
      actor: () => {
        if (action.kind === "read" && !action.audited) throw new Error("This read writes an audit entry");
        return actor;
      },
      capacity,
      request: {
        by: actor.by,
        identity: identityOf(actor),
        actor,
        roles: held,
        owner: person,
        ownedAccounts: () => ownedAccounts(stores.ledger, person),
        sourceIp: request.requestContext.http.sourceIp,
        stage: { name: stageName(), colour },
      },
    };
    const proposal = await propose(context, input);
    if (proposal !== undefined) {
      return {
        ...successResponse({ message: "Proposed: another person approves it", data: { proposal } }),
        statusCode: 202,
      };
    }
    const data = action.output.parse(await run(context, input));
    const shown =
      capacity === "owner" || capacity === "person" || action.audited ? undefined : phoneDigitsShown[capacity];
    const response = successResponse({ message: "Done", data: shown === undefined ? data : maskPhones(data, shown) });
    if (action.kind === "read") assertFits(response);
    // After it ran, so that a search beyond the limit writes no entry.
    if (action.personal && capacity !== "owner") await recordRead(actor, account, input);
    return response;
  };

/** Lambda would fail the invocation, and the person would learn nothing. */
const assertFits = ({ body = "" }: ApiResponse): void => {
  const bytes = responseBytes(body);
  if (bytes <= RESPONSE_BYTES_MAX) return;
  const megabytes = (bytes / 1_000_000).toFixed(1);
  throw new OperatorError(
    `The answer takes ${megabytes} MB, and AWS Lambda answers at most 6 MB: ask for less, or see "Fixed limits" in docs/scale.md`,
    { command: "With --direct a command reads the tables itself" },
  );
};

/** What a person cannot choose. All sessions of a role are one, because AWS verifies no more of them. */
const identityOf = ({ by, caller_arn, person }: Actor): string =>
  person === undefined ? principalOf(caller_arn ?? by) : identityOfPerson(person);

/** The response to an error. Only an unexpected one is logged: it may have changed something. */
const errorAnswer = (error: unknown, request_id: string, { route, isCommand }: Progress): ApiResponse => {
  // An operator at a command line can run the command that a message recommends.
  const refusal = (status: number, code: string, { message, sentence, field }: OperatorError): ApiResponse =>
    isCommand
      ? actionError(status, code, message)
      : actionError(status, code, sentence, field === undefined ? {} : { fields: { [field]: [sentence] } });
  if (error instanceof ServiceError && error.code !== "internal_error") {
    return envelopedError(errors[error.code].status, error);
  }
  if (error instanceof WrongTokenError) return actionError(401, "wrong_token", error.message);
  if (error instanceof NotFoundError) return refusal(404, "not_found", error);
  if (error instanceof NotAllowedError) return refusal(403, "not_allowed", error);
  if (error instanceof InFlightError) {
    return actionError(409, "in_flight", error.sentence, { retryAfterS: Math.ceil(error.retryAfterMs / 1_000) });
  }
  if (error instanceof OperatorError) return refusal(409, "refused", error);
  log.alarm("console.failed", { request_id, route, ...errorFields(error) });
  return actionError(500, "internal_error", "The service failed unexpectedly. Check what changed before you retry");
};

const actionError = (status: number, code: string, message: string, details: ErrorDetails = {}): ApiResponse =>
  envelopedError(status, { code, message, details });
