import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { copyBucket } from "../../../../shared/audit-copy/copy-bucket.ts";
import { readAuditCopies, readLockedDays } from "../../../../tools/admin/audit-copy.ts";
import { callAwsAt } from "../../../builders/aws-server.ts";

/**
 * Goal: the requests of the function that copies audit entries, and of `audit verify`, are what S3 takes. Method: a server
 * that refuses what S3 refuses of a bucket with Object Lock. Sources: Amazon S3 API Reference, "PutObject",
 * "ListObjectVersions", "GetObjectLockConfiguration".
 */
type Version = { readonly key: string; readonly body: string; readonly isDeleted?: true };
const versions: Version[] = [];
let lock = "<Mode>COMPLIANCE</Mode><Days>400</Days>";
let failOnce: readonly [status: number, code: string] | undefined;

const xml = (name: string, content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${name}>`;
const failure = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;

const PAGE = 2;
/** A page of versions, oldest first, as S3 lists them; delete markers are listed apart. */
const listed = (after: string | null): string => {
  const from = after === null ? 0 : Number(after) + 1;
  const page = versions.slice(from, from + PAGE);
  const next = from + PAGE < versions.length;
  const items = page.map(({ key, isDeleted }) => {
    const name = isDeleted ? "DeleteMarker" : "Version";
    return `<${name}><Key>${key}</Key><VersionId>v</VersionId><LastModified>2026-11-26T10:00:00.000Z</LastModified></${name}>`;
  });
  const end = next
    ? `<IsTruncated>true</IsTruncated><NextKeyMarker>${from + PAGE - 1}</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker>`
    : "<IsTruncated>false</IsTruncated>";
  return xml("ListVersionsResult", `${end}${items.join("")}`);
};

const server = createServer(async (request, response) => {
  const body = await text(request);
  const answer = (status: number, content = ""): void => void response.writeHead(status).end(content);
  const { pathname, searchParams } = new URL(request.url ?? "", "http://s3");
  const key = pathname.replace(/^\/copies\/?/, "");
  if (failOnce !== undefined) {
    const [status, code] = failOnce;
    failOnce = undefined;
    return answer(status, failure(code));
  }
  if (searchParams.has("object-lock")) {
    const rule = `<Rule><DefaultRetention>${lock}</DefaultRetention></Rule>`;
    return answer(200, xml("ObjectLockConfiguration", `<ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}`));
  }
  if (searchParams.has("versions")) return answer(200, listed(searchParams.get("key-marker")));
  const checksum = createHash("sha256").update(body).digest("base64");
  // Source: "Object Lock considerations": a put without a checksum is refused.
  if (request.method !== "PUT" || request.headers["x-amz-checksum-sha256"] !== checksum)
    return answer(400, failure("InvalidRequest"));
  const current = versions.findLast((version) => version.key === key);
  if (request.headers["if-none-match"] === "*" && current !== undefined && !current.isDeleted)
    return answer(412, failure("PreconditionFailed"));
  versions.push({ key, body });
  return answer(200);
});
callAwsAt(server);

test("an entry is put once with its checksum, also if its batch is repeated", async () => {
  const put = copyBucket("copies");
  expect(await put("acc_1/0000000001/one", '{"by":"ada"}')).toBe(true);
  expect(await put("acc_1/0000000001/one", '{"by":"ada"}')).toBe(false);
  expect(versions).toEqual([{ key: "acc_1/0000000001/one", body: '{"by":"ada"}' }]);
});

test("a put that S3 throttles is sent again, and another refusal fails the batch", async () => {
  failOnce = [503, "SlowDown"];
  expect(await copyBucket("copies")("acc_1/0000000002/two", "{}")).toBe(true);
  failOnce = [403, "AccessDenied"];
  await expect(copyBucket("copies")("acc_1/0000000003/three", "{}")).rejects.toThrow();
});

test("all copies are read page by page, those that a delete marker hides too", async () => {
  versions.push(
    { key: "acc_1/0000000002/two", body: "", isDeleted: true },
    { key: "service/0000000001/s", body: "{}" },
  );
  const { byLog, beganAt } = await readAuditCopies("copies");
  expect(beganAt).toBe("2026-11-26T10:00:00.000Z");
  expect(Object.fromEntries(byLog)).toEqual({
    acc_1: [
      { auditLog: "acc_1", sequence: "0000000001", hash: "one" },
      { auditLog: "acc_1", sequence: "0000000002", hash: "two" },
    ],
    service: [{ auditLog: "service", sequence: "0000000001", hash: "s" }],
  });
});

test("only a lock that nobody can remove counts", async () => {
  expect(await readLockedDays("copies")).toBe(400);
  lock = "<Mode>GOVERNANCE</Mode><Days>400</Days>";
  expect(await readLockedDays("copies")).toBeUndefined();
  lock = "<Mode>COMPLIANCE</Mode><Years>2</Years>";
  expect(await readLockedDays("copies")).toBe(730);
});
