import * as z from "#zod";
import { hasSignedIn } from "../access/person-item.ts";
import type { Actor } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";

/**
 * The ARN without the part that the person may choose: the name of a role's session, or of a federated user. Source:
 * AWS STS, "AssumeRole", RoleSessionName; "GetFederationToken", Name.
 */
export const principalOf = (arn: string): string => arn.replace(/^(arn:[^:]+:sts:.+)\/.*$/, "$1");

/**
 * IAM Identity Center names the sessions of its own roles after the person, and only AWS can change who may take these
 * roles. Source: AWS re:Post Knowledge Center, "identity-center-aws-reserved-sso".
 */
const IDENTITY_CENTER_ROLE = /^arn:[^:]+:sts::\d{12}:assumed-role\/AWSReservedSSO_[^/]+\//;

/** The part of an ARN that identifies a person. */
const identifyingPart = (arn: string): string => (IDENTITY_CENTER_ROLE.test(arn) ? arn : principalOf(arn));

const identityArn = z
  .string()
  .check(
    z.regex(
      /^arn:aws[a-z-]*:(iam::\d{12}:user\/\S+|sts::\d{12}:assumed-role\/(AWSReservedSSO_[\w+=,.@-]+\/[\w+=,.@-]+|(?!AWSReservedSSO_)[\w+=,.@-]+))$/,
      "Must be the ARN of an IAM user, of a session of an IAM Identity Center role, or of the role that one person has, as arn:aws:sts::ACCOUNT:assumed-role/ROLE: people choose the names of other sessions",
    ),
  );

/**
 * As JSON. Lambda takes 4 KB of variables; the others of console-api are about 1.8 KB. An entry of IAM Identity Center has about
 * 120 bytes.
 */
const PEOPLE_BYTES_MAX = 2_000;

/** What one person proposes and another approves: the setting `fourEyes` of a stage. */
export const fourEyesSettings = z.strictObject({
  /** NGN. A live order up to this amount is resolved by one person. */
  resolveAboveNaira: z._default(z.int().check(z.minimum(0)), 0),
  /** After this time a proposal cannot be approved any more. */
  hours: z._default(z.int().check(z.minimum(1), z.maximum(720)), 72),
  /** By the subject of a person at the identity provider: the person's AWS identities. */
  people: z._default(
    z
      .record(z.string().check(z.regex(/^\S+$/, "A subject has no spaces")), z.array(identityArn).check(z.minLength(1)))
      .check(
        z.superRefine((people, context) => {
          if (Buffer.byteLength(JSON.stringify(people)) > PEOPLE_BYTES_MAX) {
            const message = `Must have at most ${PEOPLE_BYTES_MAX} bytes as JSON, which is about 16 people of IAM Identity Center: name only those who use AWS credentials, and have the others use the console`;
            context.addIssue({ code: "custom", message });
          }
          for (const names of [Object.keys(people), Object.values(people).flat()]) {
            // AWS does not document whether it keeps the case in which a person typed the name of a session.
            const lower = names.map((name) => name.toLowerCase());
            const repeated = names.find((_, index) => lower.indexOf(lower[index] ?? "") !== index);
            if (repeated === undefined) continue;
            const message = `${repeated} belongs to one person, and is named twice; upper and lower case are the same here`;
            context.addIssue({ code: "custom", message });
          }
        }),
      ),
    {},
  ),
});
/** With the issuer of the console's tokens; without a console the keys of `people` are names of the company's choice. */
export type FourEyes = z.output<typeof fourEyesSettings> & { readonly issuer?: string | undefined };

/** The setting in the environment of a function; undefined in a stage without it. */
export const parseFourEyes = (text: string, issuer: string | undefined): FourEyes | undefined =>
  text === "" ? undefined : { ...fourEyesSettings.parse(JSON.parse(text)), issuer };

/** The subject at the identity provider, which is all that is compared, or why it is unknown. */
export type Identified =
  | { readonly subject: string; readonly refusal?: undefined }
  | { readonly subject?: undefined; readonly refusal: string };

/**
 * Who acts. Refused is an AWS identity that the setting gives to nobody, since it may be anybody's, and one that it gives to
 * a subject who has never signed in: a mistyped subject would make one person two.
 */
export const identify = async (
  ledger: Ledger,
  { people, issuer }: FourEyes,
  { person, caller_arn }: Actor,
): Promise<Identified> => {
  if (person !== undefined) return { subject: person.sub };
  const identity = caller_arn === undefined ? undefined : identifyingPart(caller_arn);
  const subject = Object.entries(people).find(([, arns]) => arns.some((arn) => arn === identity))?.[0];
  if (subject === undefined) {
    const otherWay = issuer === undefined ? "" : "use the console, or ";
    return {
      refusal: `Your AWS identity belongs to nobody in fourEyes.people of the stage, so it may also be the other person's: ${otherWay}have the identity added`,
    };
  }
  if (issuer === undefined || (await hasSignedIn(ledger, { issuer, sub: subject }))) return { subject };
  return {
    refusal: `In fourEyes.people of the stage your AWS identity belongs to ${subject}, a subject who has never signed in at the console: sign in there once. If that does not help, have the subject corrected`,
  };
};
