import { writeFileSync } from "node:fs";
import { afterAll } from "vitest";
import * as z from "#zod";
import type { AccountStore } from "../../shared/access/account-store.ts";
import { createAccount } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS, permissionSchema } from "../../shared/contract/permission.ts";
import { openDynamoDb, openSecretsManager } from "../../shared/platform/aws/sdk.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { contractSuite } from "../contract/suite.ts";

/** The contract suite against a deployed stage: tools/acceptance/steps/contract.ts starts it. */

const { baseUrl, address, accessTable, ledgerTable, checksumKeyId, countFile } = z
  .object({
    baseUrl: z.url(),
    address: z.string(),
    accessTable: z.string(),
    ledgerTable: z.string(),
    checksumKeyId: z.string(),
    countFile: z.string(),
  })
  .parse(JSON.parse(process.env.ACCEPTANCE_TARGET ?? ""));
const checksumKey = secret(openSecretsManager(), checksumKeyId);
const store: AccountStore = { db: openDynamoDb(), accessTable, ledgerTable, checksumKey };

const send = globalThis.fetch;
let requests = 0;
globalThis.fetch = (...args) => {
  requests += 1;
  return send(...args);
};
afterAll(() => writeFileSync(countFile, String(requests)));

contractSuite({
  name: "the deployed stage",
  scope: "service",
  modes: ["test"],
  arranges: [],
  open: async () => ({
    baseUrl,
    key: async () => {
      const { account_id } = await createAccount(store, {
        name: "contract",
        whitelist: [address],
        entitlements: ALL_ENTITLEMENTS,
      });
      return (await createKey(store, account_id, { mode: "test", permissions: permissionSchema.options })).key;
    },
    close: async () => {},
  }),
});
