import { expect, test } from "vitest";
import { findAccount } from "../../../../shared/access/account-store.ts";
import { accountIdsOf } from "../../../../shared/ledger/query-index.ts";
import { makeSampleBooks } from "../../../../tools/local/sample-books.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";

const operator = await openOperatorLedger();

test("sample books whose writing was interrupted are not written a second time, and the account is known before", async () => {
  const context = anActionContext(operator.tables);
  const created: string[] = [];
  const make = (known: string | undefined, keyedHashes = context.keyedHashes) =>
    makeSampleBooks({ ...context, keyedHashes }, known, (accountId) => void created.push(accountId));
  await expect(make(undefined, () => Promise.reject(new Error("killed")))).rejects.toThrow("killed");
  expect(await make(created[0])).toBe(created[0]);
  expect(await accountIdsOf(context.ledger)).toEqual(created);
  expect(await findAccount(context.accounts, created[0] ?? "")).toMatchObject({ name: "sample" });
});
