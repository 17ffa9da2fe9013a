import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as z from "#zod";
import { setEnvironment } from "../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

/** A response of AWS's query protocol: the result's XML, or an error. */
export type QueryAnswer =
  | { readonly result: string }
  | { readonly error: string; readonly message: string; readonly status?: number };

/** A request of AWS's query protocol, with the region for which it is signed. */
export type QueryRequest = Readonly<Record<string, string>> & { readonly Action: string };

export type FakeAws = {
  readonly endpoint: string;
  /** Every request, in order. */
  readonly requests: readonly QueryRequest[];
  /** The user's home folder, without credentials at first. */
  readonly home: string;
  /** Writes ~/.aws/config and makes it the one that the SDK reads. */
  readonly writeConfig: (config: string) => void;
  /** Makes this process use the fake, without the machine's own AWS settings. */
  readonly enter: (environment?: Readonly<Record<string, string>>) => void;
  readonly leave: () => void;
  readonly stop: () => Promise<void>;
};

/** The account of every caller of the fake. */
export const FAKE_ACCOUNT = "111122223333";
/** A profile whose role needs the code of an MFA device. */
export const MFA_CONFIG = `[profile person]
credential_process = echo '{"Version":1,"AccessKeyId":"AKIAPERSON","SecretAccessKey":"person"}'
[profile admin]
role_arn = arn:aws:iam::${FAKE_ACCOUNT}:role/admin
source_profile = person
mfa_serial = arn:aws:iam::${FAKE_ACCOUNT}:mfa/ada
`;
export const FAKE_ARN = `arn:aws:sts::${FAKE_ACCOUNT}:assumed-role/operator/ada`;
const KEYS =
  "<AccessKeyId>AKIAROLE</AccessKeyId><SecretAccessKey>role</SecretAccessKey><SessionToken>token</SessionToken>";
const SESSION = `<Credentials>${KEYS}<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>`;

/** AWS STS, and whatever `answer` adds, behind one endpoint on this machine. */
export const startFakeAws = async (answer: (request: QueryRequest) => QueryAnswer | undefined = () => undefined) => {
  const requests: QueryRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const [, SigningRegion = ""] = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(incoming.headers.authorization ?? "") ?? [];
    const parameters = Object.fromEntries(new URLSearchParams(await text(incoming)));
    const request = requestSchema.parse({ ...parameters, SigningRegion });
    requests.push(request);
    const found = answer(request) ??
      stsAnswer(request) ?? { error: "InvalidAction", message: `The fake has no ${request.Action}` };
    const [status, body] =
      "result" in found
        ? [200, `<${request.Action}Result>${found.result}</${request.Action}Result>`]
        : [found.status ?? 400, `<Error><Code>${found.error}</Code><Message>${found.message}</Message></Error>`];
    const name = status === 200 ? `${request.Action}Response` : "ErrorResponse";
    response.writeHead(status, { "content-type": "text/xml" }).end(`<${name}>${body}</${name}>`);
  });
  const port = await listenOnLoopback(server);
  const endpoint = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), "fake-aws-"));
  let homes = 0;
  let home = "";
  let leave = (): void => {};
  const fake: FakeAws = {
    endpoint,
    requests,
    get home() {
      return home;
    },
    writeConfig: (config) => writeFileSync(join(home, ".aws", "config"), config),
    enter: (environment = {}) => {
      fake.leave();
      requests.length = 0;
      homes += 1;
      // A folder for each test, because the SDK keeps the files that it has read.
      home = join(folder, String(homes));
      mkdirSync(join(home, ".aws", "sso", "cache"), { recursive: true });
      const inherited = Object.keys(process.env).filter((name) => name.startsWith("AWS_"));
      leave = setEnvironment({
        ...Object.fromEntries(inherited.map((name) => [name, undefined])),
        ...Object.fromEntries(SIGN_IN_VARIABLES.map((name) => [name, undefined])),
        HOME: home,
        AWS_ENDPOINT_URL: endpoint,
        AWS_EC2_METADATA_DISABLED: "true",
        ...environment,
      });
    },
    leave: () => {
      leave();
      leave = () => {};
    },
    stop: async () => {
      fake.leave();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true });
    },
  };
  return fake;
};

/** What a sign-in may set: named, so that it is removed again. */
const SIGN_IN_VARIABLES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
  "AWS_DEFAULT_PROFILE",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
];

const requestSchema = z.catchall(z.looseObject({ Action: z.string() }), z.string());

const stsAnswer = ({ Action }: QueryRequest): QueryAnswer | undefined => {
  switch (Action) {
    case "GetCallerIdentity":
      return { result: `<Arn>${FAKE_ARN}</Arn><UserId>AROA:ada</UserId><Account>${FAKE_ACCOUNT}</Account>` };
    case "AssumeRole":
    case "AssumeRoleWithWebIdentity":
      return { result: SESSION };
    default:
      return undefined;
  }
};
