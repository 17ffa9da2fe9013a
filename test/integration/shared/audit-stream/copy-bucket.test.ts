import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { copyBucket } from "../../../../shared/audit-stream/copy-bucket.ts";
import { readLockedDays, withAuditCopies } from "../../../../tools/admin/audit-copy.ts";
import { callAwsAt } from "../../../builders/aws/aws-server.ts";

/**
 * Goal: the requests of the function that copies audit entries, and of `audit verify`, are what S3 takes. Method: a server
 * that refuses what S3 refuses of a bucket with Object Lock. Sources: Amazon S3 API Reference, "PutObject",
 * "ListObjectVersions", "GetObjectLockConfiguration"; Amazon S3 User Guide, "Add preconditions to S3 operations".
 */
type Version = { readonly key: string; readonly body: string; readonly isDeleted?: true };
const versions: Version[] = [];
/** The default retention; undefined in a bucket with Object Lock and without a rule. */
let lock: string | undefined = "<Mode>COMPLIANCE</Mode><Days>400</Days>";
let failOnce: readonly [status: number, code: string] | undefined;

const xml = (name: string, content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${name}>`;
const failure = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;

const PAGE = 2;
/** A page of versions by key, of a key the newest first, as S3 lists them. Markers are versions of their own kind. */
const listed = (prefix: string | null, keyMarker: string | null, versionMarker: string | null): string => {
  const all = versions
    .map((version, at) => ({ ...version, id: `v${at}` }))
    .filter(({ key }) => key.startsWith(prefix ?? ""))
    .toReversed()
    .toSorted((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
  const from = all.findIndex(({ key, id }) => key === keyMarker && id === versionMarker) + 1;
  const page = all.slice(from, from + PAGE);
  const items = page.map(({ key, id, isDeleted }) => {
    const name = isDeleted ? "DeleteMarker" : "Version";
    const at = `2026-11-26T10:00:0${id.slice(1)}.000Z`;
    return `<${name}><Key>${key}</Key><VersionId>${id}</VersionId><LastModified>${at}</LastModified></${name}>`;
  });
  const last = page.at(-1);
  const end =
    last !== undefined && from + PAGE < all.length
      ? `<IsTruncated>true</IsTruncated><NextKeyMarker>${last.key}</NextKeyMarker><NextVersionIdMarker>${last.id}</NextVersionIdMarker>`
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
    const rule = lock === undefined ? "" : `<Rule><DefaultRetention>${lock}</DefaultRetention></Rule>`;
    return answer(200, xml("ObjectLockConfiguration", `<ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}`));
  }
  if (searchParams.has("versions"))
    return answer(
      200,
      listed(searchParams.get("prefix"), searchParams.get("key-marker"), searchParams.get("version-id-marker")),
    );
  const checksum = createHash("sha256").update(body).digest("base64");
  const { "x-amz-checksum-sha256": sent, ...headers } = request.headers;
  // Source: "Object Lock considerations": a put into a locked bucket needs a checksum.
  if (request.method !== "PUT" || sent === undefined) return answer(400, failure("InvalidRequest"));
  if (sent !== checksum) return answer(400, failure("BadDigest"));
  // Retention of its own, or a hold, needs permissions that the function has not: PutObjectRetention, PutObjectLegalHold.
  if (Object.keys(headers).some((name) => name.startsWith("x-amz-object-lock")))
    return answer(403, failure("AccessDenied"));
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

// Source: "PutObject", If-None-Match: on a 409 the upload is to be retried. The batch is, and its copies are put once.
test("a put that meets another one of the same key fails the batch, whose repetition puts it or finds it", async () => {
  failOnce = [409, "ConditionalRequestConflict"];
  const put = copyBucket("copies");
  await expect(put("acc_1/0000000003/three", "{}")).rejects.toThrow("no");
  expect(await put("acc_1/0000000003/three", "{}")).toBe(true);
  expect(await put("acc_1/0000000003/three", "{}")).toBe(false);
});

test("all copies are read page by page, those that a delete marker hides too", async () => {
  versions.push(
    { key: "acc_1/0000000002/two", body: "", isDeleted: true },
    { key: "service/0000000001/s", body: "{}" },
  );
  await withAuditCopies("copies", async ({ logs, beganAt, entriesOf }) => {
    expect(beganAt).toBe("2026-11-26T10:00:00.000Z");
    expect([...logs]).toEqual(["acc_1", "service"]);
    expect(await Array.fromAsync(entriesOf("acc_1"))).toEqual([
      { auditLog: "acc_1", sequence: "0000000001", hash: "one" },
      { auditLog: "acc_1", sequence: "0000000002", hash: "two" },
      { auditLog: "acc_1", sequence: "0000000003", hash: "three" },
    ]);
    expect(await Array.fromAsync(entriesOf("service"))).toEqual([
      { auditLog: "service", sequence: "0000000001", hash: "s" },
    ]);
    expect(await Array.fromAsync(entriesOf("acc"))).toEqual([]);
  });
});

test("only a lock that nobody can remove counts", async () => {
  expect(await readLockedDays("copies")).toBe(400);
  lock = "<Mode>GOVERNANCE</Mode><Days>400</Days>";
  expect(await readLockedDays("copies")).toBeUndefined();
  lock = "<Mode>COMPLIANCE</Mode><Years>2</Years>";
  expect(await readLockedDays("copies")).toBe(730);
  lock = undefined;
  expect(await readLockedDays("copies")).toBeUndefined();
  failOnce = [404, "ObjectLockConfigurationNotFoundError"];
  expect(await readLockedDays("copies")).toBeUndefined();
  failOnce = [403, "AccessDenied"];
  await expect(readLockedDays("copies")).rejects.toThrow();
});
