import { CloudFormationClient, ListStacksCommand } from "@aws-sdk/client-cloudformation";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { projectRoot } from "../../../infra/bundle/project-root.ts";
import { emulator, stage, synthesised } from "./company.ts";

test("npm run destroy deletes the stacks and leaves the tables", async () => {
  const options = ["--stage", "sandbox", "--force", "--app", synthesised];
  const { code, stdout } = await emulator.run(projectRoot, "npm", "run", "destroy", "--", ...options);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Not deleted: the access, ledger and audit tables")]);
  const { StackSummaries = [] } = await new CloudFormationClient({}).send(new ListStacksCommand({}));
  const left = StackSummaries.filter(({ StackStatus }) => StackStatus !== "DELETE_COMPLETE");
  expect(left.map(({ StackName }) => StackName)).toEqual(["CDKToolkit-airtime"]);
  const { TableNames = [] } = await new DynamoDBClient({}).send(new ListTablesCommand({}));
  expect(TableNames).toEqual(expect.arrayContaining([stage.outputs.AccessTable, stage.outputs.LedgerTable]));
});
