import type { Context } from "aws-lambda";

/** The context of an invocation with this much time left. */
export const aLambdaContext = (remainingMs = 29_000): Context => ({
  callbackWaitsForEmptyEventLoop: false,
  functionName: "test",
  functionVersion: "1",
  invokedFunctionArn: "arn:aws:lambda:eu-west-1:123456789012:function:test",
  memoryLimitInMB: "512",
  awsRequestId: "invocation-0001",
  logGroupName: "test",
  logStreamName: "test",
  getRemainingTimeInMillis: () => remainingMs,
  done: () => {},
  fail: () => {},
  succeed: () => {},
});
