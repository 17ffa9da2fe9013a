import { createHmac, createSecretKey, hash, type KeyObject, randomUUID } from "node:crypto";

// As in shared/upstream/exchange.ts: an import would also evaluate fetch.
const { Agent, request } = process.getBuiltinModule("node:http");

/**
 * The three DynamoDB calls of this service's live purchase, signed by hand and sent over connections that are kept
 * alive, and nothing else: no parsing, no checks, no upstream, no log, no retries. No purchase can cost less than its
 * calls do.
 */
const {
  AWS_ENDPOINT_URL_DYNAMODB: endpoint = "",
  AWS_REGION: region = "",
  AWS_ACCESS_KEY_ID: accessKeyId = "",
  AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
  ACCESS_TABLE: accessTable = "",
  LEDGER_TABLE: ledgerTable = "",
} = process.env;
const { hostname, port, host } = new URL(endpoint);
const agent = new Agent({ keepAlive: true });

/** The answer to any purchase; the account of the key pays for it. */
export const ANSWER = '{"data":{"transaction":{"status":"success"}}}';

export const sendThreeCalls = async (authorization = ""): Promise<void> => {
  const key = hash("sha256", authorization.replace(/^Bearer /, ""), "base64url");
  const minute = Math.floor(Date.now() / 60_000);
  const counted = await send(
    "UpdateItem",
    `{"TableName":"${accessTable}","Key":{"pk":{"S":"${key}"}},"ReturnValues":"ALL_NEW","UpdateExpression":"ADD #counter :one REMOVE #previous","ConditionExpression":"attribute_exists(pk)","ExpressionAttributeNames":{"#counter":"vtu:${minute}","#previous":"vtu:${minute - 1}"},"ExpressionAttributeValues":{":one":{"N":"1"}}}`,
  );
  const account = JSON.parse(counted).Attributes.account_id.S;
  const [pk, attempt, now] = [`transaction#${randomUUID().slice(0, 26)}`, randomUUID(), new Date().toISOString()];
  await send(
    "TransactWriteItems",
    `{"TransactItems":[{"Put":{"Item":{"pk":{"S":"${pk}"},"list_key":{"S":"${account}#live"},"account_id":{"S":"${account}"},"key_id":{"S":"key_bc322509c105b7d7be"},"mode":{"S":"live"},"type":{"S":"data"},"status":{"S":"processing"},"write_token":{"S":"${attempt}"},"fingerprint":{"S":"yWmeViCOl8HzpXIc78HTtA"},"caller_reference":{"S":"${attempt}"},"amount_kobo":{"N":"50000"},"description":{"S":"MTN 1GB data for 08031234567"},"network":{"S":"MTN"},"phone_number":{"S":"08031234567"},"phone_key":{"S":"yWmeViCOl8HzpXIc78HTtA"},"open":{"S":"live#0"},"listed_at":{"S":"${now}"},"created_at":{"S":"${now}"},"updated_at":{"S":"${now}"}},"TableName":"${ledgerTable}","ConditionExpression":"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},{"Update":{"Key":{"pk":{"S":"wallet#${account}"}},"UpdateExpression":"SET balance_kobo = balance_kobo - :amount, version = version + :one, updated_at = :now","TableName":"${ledgerTable}","ConditionExpression":"balance_kobo >= :amount","ExpressionAttributeValues":{":amount":{"N":"50000"},":one":{"N":"1"},":now":{"S":"${now}"}}}}],"ClientRequestToken":"${attempt}"}`,
  );
  await send(
    "UpdateItem",
    `{"TableName":"${ledgerTable}","Key":{"pk":{"S":"${pk}"}},"UpdateExpression":"SET #status = :status, updated_at = :updated_at, upstream_reference = :upstream_reference, upstream_amount_kobo = :upstream_amount_kobo REMOVE #open, listed_at","ConditionExpression":"#status = :processing AND #mode = :mode AND write_token = :write_token","ExpressionAttributeNames":{"#status":"status","#mode":"mode","#open":"open"},"ExpressionAttributeValues":{":status":{"S":"success"},":processing":{"S":"processing"},":mode":{"S":"live"},":write_token":{"S":"${attempt}"},":updated_at":{"S":"${now}"},":upstream_reference":{"S":"${attempt}"},":upstream_amount_kobo":{"N":"50000"}},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`,
  );
};

// With a Buffer as its key an HMAC takes seven times as long.
const hmac = (key: KeyObject, data: string): Buffer => createHmac("sha256", key).update(data).digest();
const derive = (key: KeyObject, data: string): KeyObject => createSecretKey(hmac(key, data));
const secret = createSecretKey(Buffer.from(`AWS4${secretAccessKey}`));
let signing: { readonly day: string; readonly key: KeyObject } = { day: "", key: secret };

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
const send = (operation: string, body: string): Promise<string> => {
  const target = `DynamoDB_20120810.${operation}`;
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = date.slice(0, 8);
  if (signing.day !== day) {
    signing = { day, key: [day, region, "dynamodb", "aws4_request"].reduce(derive, secret) };
  }
  const scope = `${day}/${region}/dynamodb/aws4_request`;
  const canonical = `POST\n/\n\nhost:${host}\nx-amz-date:${date}\nx-amz-target:${target}\n\nhost;x-amz-date;x-amz-target\n${hash("sha256", body)}`;
  const signature = hmac(signing.key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash("sha256", canonical)}`).toString(
    "hex",
  );
  const headers = {
    host,
    "content-type": "application/x-amz-json-1.0",
    "content-length": Buffer.byteLength(body),
    "x-amz-date": date,
    "x-amz-target": target,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=host;x-amz-date;x-amz-target, Signature=${signature}`,
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, method: "POST", path: "/", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const answer = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`${operation}: ${answer}`));
      });
    });
    sent.once("error", reject).end(body);
  });
};
