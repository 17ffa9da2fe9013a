import * as z from "#zod";
import { SettingsError } from "../../infra/settings-error.ts";
import type { Stages } from "../../infra/stage-settings.ts";
import { jsonOf } from "../../shared/contract/json.ts";

/** The variable with a person's ID token, for the step that tries the console. */
const CONSOLE_ID_TOKEN = "CONSOLE_ID_TOKEN";

/** The stage is deployed before the token is used. */
const USABLE_S = 20 * 60;
/** Where providers list groups. */
const GROUPS_CLAIMS = ["groups", "cognito:groups"] as const;

const claimsSchema = z.looseObject({
  iss: z.url({ protocol: /^https$/ }),
  aud: z.union([
    z.string(),
    z.pipe(
      z.tuple([z.string()]),
      z.transform(([audience]) => audience),
    ),
  ]),
  exp: z.number(),
});
const groupsSchema = z.tuple([z.string().check(z.minLength(1))], z.string());

/** A person's token, and the setting `console` with which the stage takes it. */
export type ConsoleToken = {
  readonly token: string;
  readonly settings: NonNullable<Stages[string]["console"]>;
  /** What the person is in the stage: an operator if the token lists a group. */
  readonly role: "operator" | null;
};

/** The token of the environment; undefined if there is none. */
export const readConsoleToken = (token = process.env[CONSOLE_ID_TOKEN]): ConsoleToken | undefined => {
  if (token === undefined || token === "") return undefined;
  const claims = claimsSchema.safeParse(payloadOf(token)).data;
  if (claims === undefined) {
    throw new SettingsError(`${CONSOLE_ID_TOKEN} is no ID token of a provider with https and for one client`);
  }
  const leftS = Math.floor(claims.exp - Date.now() / 1_000);
  if (leftS < USABLE_S) {
    throw new SettingsError(`${CONSOLE_ID_TOKEN} expires in ${leftS} s, and must last for ${USABLE_S} s`);
  }
  const groupsClaim = GROUPS_CLAIMS.find((name) => groupsSchema.safeParse(claims[name]).success);
  const [group] = groupsClaim === undefined ? [] : groupsSchema.parse(claims[groupsClaim]);
  return {
    token,
    settings: {
      issuer: claims.iss,
      clientId: claims.aud,
      operatorGroup: group ?? "acceptance-operators",
      readerGroup: "acceptance-readers",
      ...(groupsClaim !== undefined && { groupsClaim }),
    },
    role: group === undefined ? null : "operator",
  };
};

const payloadOf = (token: string): unknown => {
  const [, payload = ""] = token.split(".");
  return jsonOf(Buffer.from(payload, "base64url").toString("utf8"));
};
