import * as z from "#zod";
import { roleGroups, roles } from "../contract/roles.ts";
import { stageColourSchema } from "../contract/stage-colour.ts";

const scopes = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const DISCOVERY = "/.well-known/openid-configuration";
/**
 * Its tokens name another issuer. Source: AWS, "Amazon Cognito endpoints and quotas" and "Verifying JSON web tokens".
 */
const COGNITO_SIGN_IN_DOMAIN = /\.auth(-fips)?\.[a-z0-9-]+\.amazoncognito\.com$/;

/** How people sign in to the console, and what their groups mean: the setting `console` of a stage. */
export const consoleSettings = z
  .strictObject({
    /**
     * The provider's issuer exactly as its tokens have it. API Gateway compares the text, so that a slash at its end
     * counts.
     */
    issuer: z
      .url({ protocol: /^https?$/, abort: true, error: "The issuer must be a URL that begins with https://" })
      .check(
        z.refine((issuer) => !issuer.endsWith(DISCOVERY), {
          error: `Name the issuer, which is the address of the provider's discovery document without ${DISCOVERY}`,
        }),
        z.refine((issuer) => !/[?#]/.test(issuer), { error: "An issuer has neither a query nor a fragment" }),
        z.refine((issuer) => !COGNITO_SIGN_IN_DOMAIN.test(new URL(issuer).hostname), {
          error:
            "This is Cognito's sign-in domain: the issuer is https://cognito-idp.REGION.amazonaws.com/POOL, and the sign-in domain is the tokenOrigin",
        }),
      ),
    /** The id that the provider gave the console: the `aud` of its ID tokens. */
    clientId: z.string().check(z.minLength(1)),
    /** Members of this group may do everything. */
    operatorGroup: z.string().check(z.minLength(1)),
    /** Members of this group keep the books: they fund wallets, close months and compare the upstream's statements. */
    financeGroup: z.optional(z.string().check(z.minLength(1))),
    /** Members of this group answer callers and customers: they see orders, and add notes to them. */
    supportGroup: z.optional(z.string().check(z.minLength(1))),
    /** Members of this group see everything, and export it for auditors. */
    auditorGroup: z.optional(z.string().check(z.minLength(1))),
    /** Members of this group see everything, and change nothing. */
    readerGroup: z.string().check(z.minLength(1)),
    /** The claim of the ID token that lists the person's groups. */
    groupsClaim: z._default(z.string().check(z.minLength(1)), "groups"),
    /** A method that the claim `amr` of the ID token must have, such as `mfa`; without it none is asked for. */
    requiredAmr: z.optional(z.string().check(z.minLength(1))),
    /** How old a token may be: after this time a person whom the provider has removed is refused. */
    tokenMinutesMax: z._default(z.int().check(z.minimum(5), z.maximum(1_440)), 15),
    /** By which people tell this stage's pages from another's; without it, by whether it sells. */
    colour: z.optional(stageColourSchema),
    /** What the page asks the provider for. */
    scope: z._default(
      z.string().check(
        z.regex(scopes, "Write scopes with one space between them"),
        z.refine((scope) => scope.split(" ").includes("openid"), {
          error: "Without the scope openid a provider issues no ID token",
        }),
      ),
      "openid email profile",
    ),
    /** Where the provider issues tokens, if that is another origin than the issuer's: the page may call no others. */
    tokenOrigin: z.optional(
      z
        .url({
          protocol: /^https?$/,
          abort: true,
          error: "The tokenOrigin must be an origin that begins with https://",
        })
        .check(
          z.refine((url) => new URL(url).origin === url, { error: "An origin has no path, and no slash at its end" }),
        ),
    ),
  })
  .check(
    z.superRefine((settings, context) => {
      for (const [index, role] of roles.entries()) {
        const group = settings[roleGroups[role]];
        const wider = roles.slice(0, index).find((each) => group !== undefined && settings[roleGroups[each]] === group);
        if (wider === undefined) continue;
        const message = `The group of the role ${role} must be another one than that of ${wider}: its members would have both`;
        context.addIssue({ code: "custom", message, path: [roleGroups[role]] });
      }
    }),
  );
export type ConsoleSettings = z.output<typeof consoleSettings>;

export const parseConsoleSettings = (text: string): ConsoleSettings => consoleSettings.parse(JSON.parse(text));
