import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openAdminContext } from "../../../../tools/admin/context.ts";
import { functionEnvironment } from "../../../../tools/local/function-environment.ts";
import { setEnvironment } from "../../../../tools/local/local-aws.ts";
import { type AdminDetails, adminFileOf } from "../../../../tools/local/service-file.ts";

const UNUSED = "http://127.0.0.1:9";
let folder: string;
let restore = (): void => {};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "admin-context-"));
});
afterEach(() => {
  restore();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Of three updates by the operator's client, how many the SDK's middlewares send. */
const updatesBySdk = async (service: "short" | "sdk", shell: "short" | "sdk" | undefined): Promise<number> => {
  const serviceFile = join(folder, "service.json");
  const environment = functionEnvironment({
    settings: { awsCalls: service },
    gatewayOrigin: UNUSED,
    upstream: { baseUrl: `${UNUSED}/v1`, profile: { reference: "all" } },
    sqs: { url: (name) => `${UNUSED}/${name}` },
  });
  const endpoints = { dynamodb: UNUSED, sqs: UNUSED, secretsManager: UNUSED };
  const details: AdminDetails = { base_url: `${UNUSED}/v1`, environment, endpoints };
  writeFileSync(adminFileOf(serviceFile), JSON.stringify(details));
  restore = setEnvironment({ SERVICE_FILE: serviceFile, AWS_CALLS: shell });
  const { ledger, close } = await openAdminContext({}, "read");
  vi.spyOn(ledger.db.config.requestHandler, "handle").mockImplementation(async () => ({
    response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from("{}")]) },
  }));
  const resolve = vi.spyOn(UpdateCommand.prototype, "resolveMiddleware");
  for (let call = 0; call < 3; call += 1) {
    await ledger.db.send(new UpdateCommand({ TableName: "ledger", Key: { pk: "a" } }));
  }
  close();
  return resolve.mock.calls.length;
};

test.each([
  ["short", undefined, 1],
  ["sdk", undefined, 3],
  ["short", "sdk", 3],
  ["sdk", "short", 3],
] as const)(
  "an operator's command for a service with AWS_CALLS=%s, from a shell with %s, sends %i of 3 updates by the SDK",
  async (service, shell, bySdk) => {
    expect(await updatesBySdk(service, shell)).toBe(bySdk);
  },
);
