import { createHash, randomBytes } from "node:crypto";
import * as z from "#zod";
import type { LocalPerson } from "../../../tools/local/identity-provider.ts";
import type { ServiceDetails } from "../../../tools/local/service-file.ts";

/** Signs a person in at the local identity provider, as the page does: code flow with PKCE. Returns the ID token. */
export const signIn = async ({ url, issuer }: ServiceDetails["console"], person: LocalPerson): Promise<string> => {
  const verifier = randomBytes(32).toString("base64url");
  const redirectUri = `${url}/callback`;
  const query = new URLSearchParams({
    client_id: "console",
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid email profile groups",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const browser = cookieClient();
  const choice = await browser(`${issuer}/auth?${query}`);
  const chosen = await browser(choice, { method: "POST", body: new URLSearchParams({ person }) });
  const code = new URL(await browser(chosen)).searchParams.get("code");
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: "console",
      redirect_uri: redirectUri,
      code: z.string().parse(code),
      code_verifier: verifier,
    }),
  });
  return z.object({ id_token: z.string() }).parse(await response.json()).id_token;
};

/** Sends requests with the cookies of earlier answers; resolves with the address of the redirect. */
const cookieClient = () => {
  const cookies = new Map<string, string>();
  return async (url: string, init: RequestInit = {}): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: "manual" });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${url} did not redirect: ${response.status} ${await response.text()}`);
    return new URL(location, url).href;
  };
};
