import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "#zod";
import { withClient } from "./with-client.ts";

/** AWS requires that many to stay unreserved; a new account may have 10 in all. */
export const UNRESERVED_MIN = 100;

const accountConcurrency = z.object({ ConcurrentExecutions: z.int(), UnreservedConcurrentExecutions: z.int() });

/** The concurrent executions of the account in its region, and how many of them no function has reserved. */
export const readAccountConcurrency = () =>
  withClient(new LambdaClient({ maxAttempts: 2 }), async (lambda) =>
    accountConcurrency.parse((await lambda.send(new GetAccountSettingsCommand({}))).AccountLimit),
  );
