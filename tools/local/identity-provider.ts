import { generateKeyPair } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createRemoteJWKSet } from "jose";
import * as z from "#zod";
import type { ConsoleSettings } from "../../shared/console/console-settings.ts";
import type { Role, roleGroups } from "../../shared/contract/roles.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { jwtAuthorizer } from "./jwt-authorizer.ts";
import { closeServer, LOOPBACK, listenOnLoopback } from "./loopback.ts";
import { memoryAdapter } from "./memory-adapter.ts";

const CLIENT_ID = "console";
/** A group of each role. */
const groups = {
  operatorGroup: "airtime-operators",
  financeGroup: "airtime-finance",
  supportGroup: "airtime-support",
  auditorGroup: "airtime-auditors",
  readerGroup: "airtime-readers",
} as const satisfies Readonly<Record<(typeof roleGroups)[Role], string>>;
const ID_TOKEN_S = 3_600;
const SESSION_S = 86_400;

/** Owns the demo account. */
export const OWNER_EMAIL = "owner@example.com";

/** Who can sign in, by the subject of their tokens. */
const people = {
  operator: {
    title: "Operator",
    may: "may do everything",
    email: "operator@example.com",
    groups: [groups.operatorGroup],
  },
  finance: { title: "Finance", may: "keeps the books", email: "finance@example.com", groups: [groups.financeGroup] },
  support: { title: "Support", may: "sees orders", email: "support@example.com", groups: [groups.supportGroup] },
  auditor: {
    title: "Auditor",
    may: "sees and exports everything",
    email: "auditor@example.com",
    groups: [groups.auditorGroup],
  },
  reader: { title: "Reader", may: "sees everything", email: "reader@example.com", groups: [groups.readerGroup] },
  owner: { title: "Owner", may: "owns the accounts demo and sample", email: OWNER_EMAIL, groups: ["checkout-team"] },
  visitor: { title: "Visitor", may: "has no role", email: "visitor@example.com", groups: [] },
} as const;
export type LocalPerson = keyof typeof people;

const isPerson = (name: string): name is LocalPerson => Object.hasOwn(people, name);

export type IdentityProvider = Awaited<ReturnType<typeof openIdentityProvider>>;

/**
 * Opens an OpenID provider for this machine, where one chooses a person instead of giving a password. It does its work
 * from the first request on, so that a service whose console nobody opens starts without it.
 */
export const openIdentityProvider = async ({
  consoleOrigin,
  portFile,
  idTokenS,
}: {
  readonly consoleOrigin: string;
  /** Keeps the port: the issuer has it, and a person of another issuer is another person. */
  readonly portFile: string;
  /** How long an ID token lasts, and counts, that is issued now. */
  readonly idTokenS?: (() => number) | undefined;
}) => {
  let issuer = "";
  let started: Promise<Serve> | undefined;
  const server = createServer(async (request, response) => {
    try {
      started ??= startProvider(issuer, consoleOrigin, idTokenS ?? (() => ID_TOKEN_S));
      await (await started)(request, response);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  issuer = `http://${LOOPBACK}:${await listenOnKeptPort(server, portFile)}`;
  const settings: ConsoleSettings = {
    issuer,
    clientId: CLIENT_ID,
    ...groups,
    groupsClaim: "groups",
    scope: SCOPE,
    tokenMinutesMax: idTokenS === undefined ? 15 : SESSION_S / 60,
  };
  return {
    settings,
    authorize: jwtAuthorizer({ issuer, audience: CLIENT_ID, keys: createRemoteJWKSet(new URL(`${issuer}/jwks`)) }),
    stop: (): Promise<void> => closeServer(server),
  };
};

/** Listens on the port of the start before, if that is free. */
const listenOnKeptPort = async (server: Server, file: string): Promise<number> => {
  const kept = readJsonFile(file, z.object({ port: z.int() }))?.port;
  const port = await listenOnLoopback(server, kept).catch(() => listenOnLoopback(server));
  if (port !== kept) writeJsonFile(file, { port });
  return port;
};

const SIGN_OUT_PATH = "/session/end";
const SCOPE = "openid email profile groups";

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const startProvider = async (issuer: string, consoleOrigin: string, idTokenS: () => number): Promise<Serve> => {
  const { Provider } = await import("oidc-provider");
  // Some people type this instead.
  const consoleOrigins = [consoleOrigin, consoleOrigin.replace(LOOPBACK, "localhost")];
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    adapter: memoryAdapter(),
    clients: [
      {
        client_id: CLIENT_ID,
        application_type: "web",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code"],
        response_types: ["code"],
        redirect_uris: consoleOrigins.map((origin) => `${origin}/console/callback`),
        post_logout_redirect_uris: consoleOrigins.map((origin) => `${origin}/console/signed-out`),
      },
    ],
    clientBasedCORS: (_context, origin) => consoleOrigins.includes(origin),
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["preferred_username"],
      groups: ["groups"],
    },
    // The ID token has the claims of its scopes, as those of most companies' providers have.
    conformIdTokenClaims: false,
    cookies: { keys: ["local"] },
    routes: { end_session: SIGN_OUT_PATH },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = page(
            "Sign out?",
            `${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`,
          );
        },
      },
    },
    findAccount: (_context, sub) => (isPerson(sub) ? { accountId: sub, claims: () => claimsOf(sub) } : undefined),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    // Nobody is asked for a consent.
    loadExistingGrant: async ({ oidc }) => {
      const accountId = oidc.session?.accountId;
      const grant = new provider.Grant({ clientId: CLIENT_ID, ...(accountId !== undefined && { accountId }) });
      grant.addOIDCScope(SCOPE);
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    renderError: (context, { error, error_description }) => {
      context.body = page("Sign-in failed", `<p>${escaped(`${error}: ${error_description}`)}</p>`);
    },
    ttl: {
      IdToken: () => idTokenS(),
      AccessToken: ID_TOKEN_S,
      Session: SESSION_S,
      Grant: SESSION_S,
      Interaction: 600,
    },
  });
  const serve = provider.callback();

  const choosePerson = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const person = request.method === "POST" ? new URLSearchParams(await text(request)).get("person") : null;
    if (person === null || !isPerson(person)) {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(choicePage);
      return;
    }
    const result = { login: { accountId: person } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
  return async (request, response) => {
    if (request.method === "POST" && request.url === SIGN_OUT_PATH) {
      // The package takes this only with cookies that need TLS.
      request.url = `${SIGN_OUT_PATH}?${await text(request)}`;
      request.method = "GET";
    }
    if (!request.url?.startsWith("/interaction/")) return serve(request, response);
    // An interaction that has ended, or a browser without its cookie.
    return choosePerson(request, response).catch((error: unknown) => {
      response.writeHead(400, { "content-type": "text/html; charset=utf-8" });
      response.end(page("Sign-in failed", `<p>${escaped(String(error))}</p>`));
    });
  };
};

const claimsOf = (sub: LocalPerson) => {
  const { email, groups } = people[sub];
  return { sub, email, email_verified: true, preferred_username: sub, groups: [...groups] };
};

const escaped = (value: string): string => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const page = (title: string, content: string): string =>
  [
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><title>${title}</title>`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    "<style>body { font: 1rem/1.5 sans-serif; margin: 2rem auto; max-width: 30rem; padding: 0 1rem }",
    "button { display: block; font: inherit; margin: 0.5rem 0; padding: 0.5rem 1rem; text-align: left; width: 100% }",
    ":root { color-scheme: light dark }</style></head>",
    `<body><main><h1>${title}</h1>${content}</main></body></html>`,
  ].join("\n");

const choicePage = page(
  "Sign in as",
  `<p>This page is only on this machine: it asks for no password. A stage uses the company's own provider.</p>
<form method="post">
${Object.entries(people)
  .map(
    ([name, { title, may, email }]) =>
      `<button name="person" value="${name}"><strong>${title}</strong> ${email}, ${may}</button>`,
  )
  .join("\n")}
</form>`,
);
