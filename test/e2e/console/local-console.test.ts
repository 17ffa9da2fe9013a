import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, startService } from "../../../tools/local/service.ts";
import { signIn } from "../../builders/sign-in.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test("the local service serves the console's pages, built, and how to sign in", async () => {
  const { url, issuer } = service.details.console;
  const page = await fetch(`${url}/keys`);
  const html = await page.text();
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toContain(`connect-src 'self' ${issuer};`);

  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  const asset = await fetch(new URL(script ?? "/console/no-script", url));
  expect(asset.status).toBe(200);
  expect(asset.headers.get("cache-control")).toContain("immutable");

  const config = await fetch(`${url}/config.json`);
  expect(await config.json()).toEqual({
    issuer,
    clientId: "console",
    scope: "openid email profile groups",
    tokenMinutesMax: 15,
  });
});

test("the console's address with a slash at its end shows the console", async () => {
  const page = await fetch(`${service.details.console.url}/`);
  expect(page.url).toBe(service.details.console.url);
  expect(await page.text()).toContain("<title>Airtime console</title>");
});

test.each([
  { person: "operator", roles: ["operator"], owns: [] },
  { person: "reader", roles: ["reader"], owns: [] },
  { person: "owner", roles: [], owns: ["demo"] },
  { person: "visitor", roles: [], owns: [] },
] as const)(
  "the local identity provider signs in the $person, whom the service knows",
  async ({ person, roles, owns }) => {
    const token = await signIn(service.details.console, person);
    const answer = await fetch(`${service.details.console.url}-api/me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await answer.json()).toMatchObject({
      status: true,
      data: {
        by: `${person}@example.com`,
        roles,
        owns: owns.map((name) => ({ name })),
        stage: { name: "local", kind: "local" },
      },
    });
  },
);

test("people also sign in at the console's address with localhost, and at no other one", async () => {
  const { url, issuer } = service.details.console;
  const at = (host: string) => signIn({ url: url.replace("127.0.0.1", host), issuer }, "reader");
  expect(await at("localhost")).toMatch(/^ey/);
  await expect(at("evil.example.com")).rejects.toThrow("invalid_redirect_uri");

  const originsOf = async (origin: string) => {
    const headers = { origin, "access-control-request-method": "POST" };
    const preflight = await fetch(`${issuer}/token`, { method: "OPTIONS", headers });
    const answer = await fetch(`${issuer}/token`, {
      method: "POST",
      headers: { origin },
      body: new URLSearchParams({ client_id: "console", grant_type: "authorization_code", code: "x" }),
    });
    return [preflight.status, answer.headers.get("access-control-allow-origin"), answer.status];
  };
  const { origin } = new URL(url);
  expect(await originsOf(origin)).toEqual([204, origin, 400]);
  expect((await originsOf("http://evil.example.com"))[1]).toBeNull();
});

test.each([
  { name: "without a token", headers: {}, authenticate: "Bearer" },
  {
    name: "with a token that nobody signed",
    headers: { authorization: "Bearer e30.e30.e30" },
    authenticate: 'Bearer scope="" error="invalid_token" error_description="the token is not valid"',
  },
])(
  "a request $name gets API Gateway's 401, also of an action that does not exist",
  async ({ headers, authenticate }) => {
    for (const path of ["me", "no/such/action"]) {
      const answer = await fetch(`${service.details.console.url}-api/${path}`, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe(authenticate);
      expect(await answer.json()).toEqual({ message: "Unauthorized" });
    }
  },
);

test("a person of the list is needed, and a choice of another browser is refused", async () => {
  const { issuer } = service.details.console;
  const choose = (person: string) =>
    fetch(`${issuer}/interaction/unknown`, { method: "POST", body: new URLSearchParams({ person }) });
  expect(await (await choose("__proto__")).text()).toContain("Sign in as");
  const refused = await choose("operator");
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("Sign-in failed");
});
