import { ErrorResponse, InMemoryWebStorage, UserManager, WebStorageStateStore } from "oidc-client-ts";
import * as z from "#zod";
import { consoleConfigSchema } from "../../shared/contract/console-config.ts";
import { restoreDrafts, storeDrafts } from "./drafts.ts";
import { beginSession, endSession, liveSession } from "./session.ts";

const CALLBACK = "/console/callback";
export const SIGNED_OUT = "/console/signed-out";

const urlState = z.object({ path: z.string().check(z.startsWith("/console")) });

/** Why the sign-in failed, and what helps. */
export class SignInError extends Error {
  override readonly name = "SignInError";
}

const readConfig = async () => {
  const response = await fetch("/console/config.json");
  if (!response.ok) throw new SignInError(`The console's settings could not be read (status ${response.status}).`);
  return consoleConfigSchema.parse(await response.json());
};

let manager: Promise<UserManager> | undefined;

/** The settings of the stage that a session needs. */
let tokenMinutesMax = Number.POSITIVE_INFINITY;

const makeManager = async (): Promise<UserManager> => {
  const { issuer, clientId, scope, ...config } = await readConfig();
  ({ tokenMinutesMax } = config);
  const userManager = new UserManager({
    authority: issuer,
    client_id: clientId,
    scope,
    redirect_uri: `${location.origin}${CALLBACK}`,
    post_logout_redirect_uri: `${location.origin}${SIGNED_OUT}`,
    loadUserInfo: false,
    automaticSilentRenew: false,
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    // State and code verifier have to outlast the redirect.
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
  });
  // Otherwise another provider's metadata could send the browser, with its code, elsewhere. Source: OpenID Connect
  // Discovery 1.0, 4.3.
  const named = await userManager.metadataService.getIssuer();
  if (named === issuer) return userManager;
  throw new SignInError(`The sign-in provider ${issuer} names itself ${named}. Ask the operators of the service.`);
};

const oidc = async (): Promise<UserManager> => {
  manager ??= makeManager();
  try {
    return await manager;
  } catch (error) {
    // The next attempt reads the settings again.
    manager = undefined;
    throw error;
  }
};

/** Sends the browser to the provider, which sends it back to this page. Forms that are open are kept. */
export const signIn = async (path = location.pathname + location.search): Promise<void> => {
  try {
    const userManager = await oidc();
    const session = liveSession();
    if (session !== undefined) storeDrafts(session.subject);
    await userManager.signinRedirect({ state: { path } });
  } catch (error) {
    throw signInError(error);
  }
};

/** Ends the session in every tab of this browser, and at the provider if it can. */
export const signOut = async (): Promise<void> => {
  endSession();
  const userManager = await oidc();
  const token = (await userManager.getUser())?.id_token;
  await userManager.removeUser();
  const endpoint = await userManager.metadataService.getEndSessionEndpoint();
  if (endpoint === undefined || token === undefined) location.assign(SIGNED_OUT);
  else post(endpoint, { id_token_hint: token, post_logout_redirect_uri: `${location.origin}${SIGNED_OUT}` });
};

/**
 * Sends the browser to an address with fields that do not become part of it: browsers, proxies and providers keep
 * addresses. Providers take both. Source: OpenID Connect RP-Initiated Logout 1.0, 2.
 */
const post = (url: string, fields: Readonly<Record<string, string>>): void => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = url;
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value });
    form.append(input);
  }
  document.body.append(form);
  form.submit();
};

/** The page that the provider sends the browser to. Returns the path that the person came from. */
const completeSignIn = async (): Promise<string> => {
  try {
    const user = await (await oidc()).signinRedirectCallback();
    if (user.id_token === undefined) throw new SignInError("The provider sent no ID token: the scope needs openid.");
    const { sub: subject, exp, iat } = user.profile;
    const now = Date.now();
    // By the token's length, because this machine's clock may be wrong.
    const validS = Math.min(exp - iat, tokenMinutesMax * 60);
    beginSession({ token: user.id_token, subject, signedInAtMs: now, endsAtMs: now + validS * 1_000 });
    restoreDrafts(subject);
    return z.catch(urlState, { path: "/console" }).parse(user.state).path;
  } catch (error) {
    throw signInError(error);
  }
};

/**
 * Called once when the page loads. Returns false if the browser is on its way to the provider, so nothing is to be
 * shown.
 */
export const startSession = async (): Promise<boolean> => {
  if (location.pathname === SIGNED_OUT) return true;
  if (location.pathname === CALLBACK) {
    history.replaceState(null, "", await completeSignIn());
    return true;
  }
  await signIn();
  return false;
};

const signInError = (error: unknown): SignInError => {
  if (error instanceof SignInError) return error;
  if (error instanceof ErrorResponse) {
    const reason = error.error_description ?? error.error;
    return new SignInError(`The sign-in provider refused: ${reason}.`, { cause: error });
  }
  if (error instanceof TypeError) {
    return new SignInError(
      "The sign-in provider could not be reached. Check the network; if other pages work, the provider does not " +
        "allow requests from this page.",
      { cause: error },
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  return new SignInError(`Signing in failed: ${message}.`, { cause: error });
};
