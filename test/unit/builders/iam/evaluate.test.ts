import { describe, expect, test } from "vitest";
import { type Decision, evaluate, type IamRequest, statementsIn } from "../../../builders/iam/evaluate.ts";

/** Goal: policies are evaluated as AWS documents it. Each group names the page that its examples are from. */
const decide = (statements: object | readonly object[], request: Partial<IamRequest>): Decision =>
  evaluate(statementsIn({ Version: "2012-10-17", Statement: statements }), {
    action: "s3:GetObject",
    resource: "arn:aws:s3:::carlossalazar/notes.txt",
    context: {},
    ...request,
  });

const anywhere = { Resource: "*" };
const allowAll = { Effect: "Allow", Action: "*", ...anywhere };

describe("AWS IAM User Guide, Policy evaluation logic", () => {
  // "Evaluating identity-based policies with resource-based policies"; the example of Carlos in "Policy evaluation logic".
  const carlos = [
    { Sid: "AllowS3ListRead", Effect: "Allow", Action: ["s3:GetAccountPublicAccessBlock", "s3:List*"], ...anywhere },
    {
      Sid: "AllowS3Self",
      Effect: "Allow",
      Action: "s3:*",
      Resource: ["arn:aws:s3:::carlossalazar/*", "arn:aws:s3:::carlossalazar"],
    },
    { Sid: "DenyS3Logs", Effect: "Deny", Action: "s3:*", Resource: "arn:aws:s3:::*log*" },
  ];
  test.each<[Decision, string, string]>([
    ["allowed", "s3:PutObject", "arn:aws:s3:::carlossalazar/notes.txt"],
    ["allowed", "s3:ListAllMyBuckets", "arn:aws:s3:::any"],
    ["denied", "s3:PutObject", "arn:aws:s3:::carlossalazar/mylogs.txt"],
    ["denied", "s3:ListBucket", "arn:aws:s3:::examplebucketlog"],
    ["not allowed", "s3:GetObject", "arn:aws:s3:::examplebucket/notes.txt"],
    ["not allowed", "iam:CreateUser", "arn:aws:iam::123456789012:user/Eve"],
  ])(
    "an explicit deny wins, and what no statement allows is not allowed: %s, %s on %s",
    (decision, action, resource) => {
      expect(decide(carlos, { action, resource })).toBe(decision);
    },
  );

  test("the order of statements does not matter", () => {
    expect(decide(carlos.toReversed(), { resource: "arn:aws:s3:::carlossalazar/mylogs.txt" })).toBe("denied");
  });
});

describe("AWS IAM User Guide, IAM JSON policy elements", () => {
  test.each<[Decision, string, string]>([
    ["allowed", "iam:*AccessKey*", "iam:CreateAccessKey"],
    ["allowed", "IAM:listaccesskeys", "iam:ListAccessKeys"],
    ["not allowed", "iam:*AccessKey*", "iam:CreateUser"],
    ["not allowed", "iam:List", "iam:ListUsers"],
    ["allowed", "ec2:Describe?pcs", "ec2:DescribeVpcs"],
  ])("Action: it is %s that %s covers %s", (decision, Action, action) => {
    expect(decide({ Effect: "Allow", Action, ...anywhere }, { action })).toBe(decision);
  });

  // "IAM JSON policy elements: NotAction", the example that denies all but IAM.
  test("NotAction is about all actions but those", () => {
    const statements = [allowAll, { Effect: "Deny", NotAction: "iam:*", ...anywhere }];
    expect(decide(statements, { action: "iam:GetUser" })).toBe("allowed");
    expect(decide(statements, { action: "s3:GetObject" })).toBe("denied");
  });

  // "IAM JSON policy elements: NotResource", the example of the HR bucket.
  test("NotResource is about all resources but those", () => {
    const NotResource = ["arn:aws:s3:::HRBucket/Payroll", "arn:aws:s3:::HRBucket/Payroll/*"];
    const statements = [allowAll, { Effect: "Deny", Action: "s3:*", NotResource }];
    expect(decide(statements, { resource: "arn:aws:s3:::HRBucket/Payroll/2026" })).toBe("allowed");
    expect(decide(statements, { resource: "arn:aws:s3:::ITBucket/a" })).toBe("denied");
  });

  // "IAM JSON policy elements: Resource": wildcards stand within the parts of an ARN.
  test.each<[boolean, string, string]>([
    [true, "arn:aws:sqs:us-east-2:123456789012:queue1", "arn:aws:sqs:us-east-2:123456789012:queue1"],
    [false, "arn:aws:sqs:us-east-2:123456789012:queue1", "arn:aws:sqs:us-east-2:123456789012:queue10"],
    [
      true,
      "arn:aws:iam::123456789012:user/Development/product_1234/*",
      "arn:aws:iam::123456789012:user/Development/product_1234/a/b",
    ],
    [true, "arn:aws:s3:::amzn-s3-demo-bucket/*/test/*", "arn:aws:s3:::amzn-s3-demo-bucket/1/2/test/3/object.jpg"],
    [true, "arn:aws:s3:::amzn-s3-demo-bucket/??/test", "arn:aws:s3:::amzn-s3-demo-bucket/12/test"],
    [false, "arn:aws:s3:::amzn-s3-demo-bucket/??/test", "arn:aws:s3:::amzn-s3-demo-bucket/1/test"],
    [true, "arn:aws:logs:*:*:log-group:a:*", "arn:aws:logs:us-east-1:123456789012:log-group:a:log-stream:b"],
    [false, "arn:aws:logs:*:*:log-group:a:*", "arn:aws:logs:us-east-1:123456789012:log-group:c:log-stream:b"],
    [false, "arn:aws:dynamodb:*:123456789012:table/Ledger", "arn:aws:dynamodb:us-east-1:999999999999:table/Ledger"],
    [
      false,
      "arn:aws:dynamodb:us-east-1:123456789012:table/Ledger",
      "arn:aws:dynamodb:us-east-1:123456789012:table/Ledger/index/by_list",
    ],
  ])("Resource: it is %s that %s covers %s", (expected, Resource, resource) => {
    expect(decide({ Effect: "Allow", Action: "*", Resource }, { resource })).toBe(expected ? "allowed" : "not allowed");
  });
});

const under = (Condition: object, context: IamRequest["context"]): boolean =>
  decide({ ...allowAll, Condition }, { context }) === "allowed";

describe("AWS IAM User Guide, Condition operators", () => {
  const isAdmin = { StringEquals: { "aws:PrincipalTag/job-category": "iamuser-admin" } };
  const inHome = { StringLike: { "s3:prefix": ["", "home/", "home/bob/*"] } };
  const elsewhere = { StringNotEquals: { "aws:RequestedRegion": ["eu-west-1", "eu-west-2"] } };
  const inRanges = { IpAddress: { "aws:SourceIp": ["203.0.113.0/24", "2001:DB8:1234:5678::/64"] } };
  const topic = { "aws:SourceArn": "arn:aws:sns:us-east-1:123456789012:topic" };
  test.each<[boolean, object, IamRequest["context"]]>([
    [true, isAdmin, { "aws:PrincipalTag/job-category": "iamuser-admin" }],
    [false, isAdmin, { "aws:PrincipalTag/job-category": "IamUser-Admin" }],
    [true, inHome, { "s3:prefix": "home/bob/a" }],
    [false, inHome, { "s3:prefix": "home/eve/" }],
    [true, elsewhere, { "aws:RequestedRegion": "us-east-1" }],
    [false, elsewhere, { "aws:RequestedRegion": "eu-west-2" }],
    [false, { StringNotLike: { "aws:RequestedRegion": "eu-*" } }, { "aws:RequestedRegion": "eu-west-2" }],
    [true, { Bool: { "aws:SecureTransport": "false" } }, { "aws:SecureTransport": "false" }],
    [false, { Bool: { "aws:SecureTransport": "true" } }, { "aws:SecureTransport": "false" }],
    [true, inRanges, { "aws:SourceIp": "203.0.113.9" }],
    [true, inRanges, { "aws:SourceIp": "2001:db8:1234:5678::1" }],
    [false, { IpAddress: { "aws:SourceIp": "203.0.113.1" } }, { "aws:SourceIp": "203.0.113.2" }],
    [true, { NotIpAddress: { "aws:SourceIp": "203.0.113.0/24" } }, { "aws:SourceIp": "198.51.100.1" }],
    [true, { ArnEquals: { "aws:SourceArn": "arn:aws:sns:us-east-1:123456789012:t*" } }, topic],
    [false, { ArnNotLike: { "aws:SourceArn": "arn:aws:sns:*:*:t*" } }, topic],
  ])("%s: %j with %j", (expected, condition, context) => {
    expect(under(condition, context)).toBe(expected);
  });

  test("ArnLike matches each part between colons, StringLike the text", () => {
    const pattern = "arn:aws:someservice:*:111122223333:finance/*";
    const arn = "arn:aws:someservice:us-east-2:999999999999:store/abc:111122223333:finance/document.txt";
    expect(under({ StringLike: { "aws:SourceArn": pattern } }, { "aws:SourceArn": arn })).toBe(true);
    expect(under({ ArnLike: { "aws:SourceArn": pattern } }, { "aws:SourceArn": arn })).toBe(false);
  });

  test.each<[boolean, string]>([
    [false, "StringEquals"],
    [false, "StringLike"],
    [false, "Bool"],
    [true, "StringNotEquals"],
    [true, "StringNotLike"],
    [true, "StringEqualsIfExists"],
    [true, "StringLikeIfExists"],
  ])("of a key that the request lacks: it is %s that %s holds", (expected, operator) => {
    expect(under({ [operator]: { "ec2:InstanceType": "t1.*" } }, {})).toBe(expected);
  });

  test("IfExists compares a key that is there", () => {
    const condition = { StringLikeIfExists: { "ec2:InstanceType": ["t1.*", "t2.*", "m3.*"] } };
    expect(under(condition, { "ec2:InstanceType": "t2.micro" })).toBe(true);
    expect(under(condition, { "ec2:InstanceType": "x1.large" })).toBe(false);
  });

  test("Null tells whether the key is there", () => {
    const isUser = { Null: { "aws:TokenIssueTime": "true" } };
    expect(under(isUser, {})).toBe(true);
    expect(under(isUser, { "aws:TokenIssueTime": "2026-11-23T00:00:00Z" })).toBe(false);
    const hasTags = { Null: { "aws:TagKeys": "false" } };
    expect(under(hasTags, { "aws:TagKeys": ["key1"] })).toBe(true);
    expect(under(hasTags, { "aws:TagKeys": [] })).toBe(false);
    expect(under(hasTags, {})).toBe(false);
  });

  // "IAM JSON policy elements: Condition".
  test("all operators and all keys of a condition must hold, one value of each, whatever the case of the key's name", () => {
    const condition = {
      StringEquals: { "AWS:username": ["john", "jane"], "aws:RequestedRegion": "us-east-1" },
      Bool: { "aws:SecureTransport": "true" },
    };
    const context = { "aws:UserName": "jane", "aws:RequestedRegion": "us-east-1", "aws:SecureTransport": "true" };
    expect(under(condition, context)).toBe(true);
    for (const key of Object.keys(context)) expect(under(condition, { ...context, [key]: "other" }), key).toBe(false);
  });
});

describe("AWS IAM User Guide, Multivalued context keys", () => {
  const anyTag = { Effect: "Allow", Action: "ec2:CreateTags", ...anywhere };
  const tag = (condition: object, tags: readonly string[] | undefined): Decision =>
    decide([anyTag, { Effect: "Deny", Action: "ec2:CreateTags", ...anywhere, Condition: condition }], {
      action: "ec2:CreateTags",
      context: tags === undefined ? {} : { "aws:TagKeys": tags },
    });

  // "Example: Deny policy with condition set operator ForAllValues", with and without Null.
  test.each<[Decision, Decision, readonly string[] | undefined]>([
    ["denied", "denied", ["key1-legal"]],
    ["denied", "denied", ["key1-legal", "key2-hr"]],
    ["allowed", "allowed", ["key1-legal", "other"]],
    ["denied", "allowed", []],
    ["denied", "allowed", undefined],
  ])("ForAllValues is %s, and with Null %s, for the keys %j", (alone, withNull, tags) => {
    const all = { "ForAllValues:StringLike": { "aws:TagKeys": ["key1*", "key2*", "key3*"] } };
    expect(tag(all, tags)).toBe(alone);
    expect(tag({ ...all, Null: { "aws:TagKeys": "false" } }, tags)).toBe(withNull);
  });

  test.each<[Decision, readonly string[] | undefined]>([
    ["allowed", ["key1:legal"]],
    ["allowed", ["key1:legal", "key2:hr"]],
    ["denied", ["key2:hr"]],
    ["denied", undefined],
  ])("ForAllValues:StringNotLike denies %s for the keys %j", (decision, tags) => {
    expect(tag({ "ForAllValues:StringNotLike": { "aws:TagKeys": "key1*" } }, tags)).toBe(decision);
  });

  // "Example: Deny policy with condition set operator ForAnyValue".
  test.each<[Decision, readonly string[] | undefined]>([
    ["denied", ["environment"]],
    ["denied", ["costcenter", "webserver"]],
    ["allowed", ["costcenter"]],
    ["allowed", []],
    ["allowed", undefined],
  ])("ForAnyValue: %s for the keys %j", (decision, tags) => {
    expect(tag({ "ForAnyValue:StringEquals": { "aws:TagKeys": ["environment", "webserver"] } }, tags)).toBe(decision);
  });
});

describe("Amazon DynamoDB Developer Guide, Using IAM policy conditions for fine-grained access control", () => {
  const resource = "arn:aws:dynamodb:us-west-2:123456789012:table/GameScores";
  const decided = (statement: object, action: string, context: IamRequest["context"]): Decision =>
    decide({ Effect: "Allow", Resource: resource, ...statement }, { action: `dynamodb:${action}`, resource, context });

  test("1: items with a partition key of the user only", () => {
    const statement = {
      Action: ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PutItem"],
      Condition: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["bob"] } },
    };
    expect(decided(statement, "PutItem", { "dynamodb:LeadingKeys": ["bob"] })).toBe("allowed");
    expect(decided(statement, "BatchGetItem", { "dynamodb:LeadingKeys": ["bob", "eve"] })).toBe("not allowed");
    expect(decided(statement, "Scan", {})).toBe("not allowed");
  });

  const limited = {
    Action: ["dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem", "dynamodb:Scan"],
    Condition: {
      "ForAllValues:StringEquals": { "dynamodb:Attributes": ["UserId", "TopScore"] },
      StringEqualsIfExists: {
        "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
        "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
      },
    },
  };
  test.each<[Decision, string, IamRequest["context"]]>([
    ["allowed", "UpdateItem", { "dynamodb:Attributes": ["UserId", "TopScore"], "dynamodb:ReturnValues": "NONE" }],
    ["not allowed", "UpdateItem", { "dynamodb:Attributes": ["UserId", "Wins"], "dynamodb:ReturnValues": "NONE" }],
    [
      "not allowed",
      "UpdateItem",
      { "dynamodb:Attributes": ["UserId", "TopScore"], "dynamodb:ReturnValues": "ALL_OLD" },
    ],
    ["allowed", "GetItem", { "dynamodb:Attributes": ["UserId", "TopScore"], "dynamodb:Select": "SPECIFIC_ATTRIBUTES" }],
    ["not allowed", "GetItem", { "dynamodb:Attributes": ["UserId"], "dynamodb:Select": "ALL_ATTRIBUTES" }],
    ["not allowed", "PutItem", { "dynamodb:Attributes": ["UserId", "TopScore"] }],
  ])("2: certain attributes only: %s, %s with %j", (decision, action, context) => {
    expect(decided(limited, action, context)).toBe(decision);
  });

  test("3: no updates of certain attributes", () => {
    const statement = {
      Action: ["dynamodb:UpdateItem"],
      Condition: {
        "ForAllValues:StringNotLike": { "dynamodb:Attributes": ["FreeGamesAvailable", "BossLevelUnlocked"] },
        StringEquals: { "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"] },
      },
    };
    const update = (...attributes: readonly string[]) =>
      decided(statement, "UpdateItem", { "dynamodb:Attributes": attributes, "dynamodb:ReturnValues": "NONE" });
    expect(update("UserId", "Wins")).toBe("allowed");
    expect(update("UserId", "BossLevelUnlocked")).toBe("not allowed");
  });

  // "Using IAM with DynamoDB transactions", examples 2 and 3.
  test("only, or only not, within a transaction", () => {
    const Condition = {
      "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems", "TransactGetItems"] },
    };
    const within = { "dynamodb:EnclosingOperation": ["TransactWriteItems"] };
    const Action = ["dynamodb:PutItem"];
    expect(decided({ Action, Condition }, "PutItem", within)).toBe("allowed");
    expect(decided({ Action, Condition }, "PutItem", {})).toBe("not allowed");
    const denying = [
      { Effect: "Deny", Action, Resource: resource, Condition },
      { Effect: "Allow", Action, Resource: resource },
    ];
    expect(decide(denying, { action: "dynamodb:PutItem", resource, context: within })).toBe("denied");
    expect(decide(denying, { action: "dynamodb:PutItem", resource })).toBe("allowed");
  });
});

describe("whatever is not evaluated here is refused", () => {
  test.each<[string, object]>([
    ["an operator", { Condition: { NumericLessThan: { "s3:max-keys": "10" } } }],
    ["an operator of sets without a base", { Condition: { "ForAllValues:Null": { "aws:TagKeys": "true" } } }],
    ["Null with IfExists", { Condition: { NullIfExists: { "aws:TagKeys": "true" } } }],
    ["a policy variable", { Resource: "arn:aws:s3:::bucket/\u0024{aws:username}/*" }],
    ["a policy variable in a condition", { Condition: { StringLike: { "s3:prefix": "home/\u0024{aws:username}" } } }],
    ["a principal", { Principal: "*" }],
    ["an unresolved reference", { Resource: { Ref: "Ledger" } }],
    ["a second element about actions", { NotAction: "s3:*" }],
    ["no resource", { Resource: undefined }],
    ["another effect", { Effect: "Permit" }],
  ])("%s", (_, changes) => {
    expect(() => decide({ ...allowAll, ...changes }, {})).toThrow();
  });

  test("another version of the language", () => {
    expect(() => statementsIn({ Version: "2008-10-17", Statement: [allowAll] })).toThrow();
  });

  // AWS warns that both may allow too much.
  test("a set operator of a key with one value, and a key of many values without one", () => {
    const all = { "ForAllValues:StringLike": { "dynamodb:Select": "COUNT" } };
    expect(() => under(all, { "dynamodb:Select": "COUNT" })).toThrow("one value");
    const one = { StringLike: { "dynamodb:LeadingKeys": "wallet#*" } };
    expect(() => under(one, { "dynamodb:LeadingKeys": ["wallet#a"] })).toThrow("ForAllValues or ForAnyValue");
  });
});
