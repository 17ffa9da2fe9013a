import { connect, type Socket } from "node:net";

/** An answer of DynamoDB's JSON protocol. */
export type WireAnswer = { readonly status: number; readonly body: string };

/** Sends one operation straight to the emulator. */
export type Forward = (operation: string, body: string) => Promise<WireAnswer>;

/** What the emulator asks of every request, and does not check. */
const SIGNATURE =
  "AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none";

const DYNAMODB = "DynamoDB_20120810";
export const DYNAMODB_STREAMS = "DynamoDBStreams_20120810";

/**
 * Hands operations on to the emulator at this address. It writes and reads HTTP itself: tests spend most of their time
 * on such requests, and those of `node:http` take three times as long.
 */
export const forwardTo = (
  emulator: string,
  api = DYNAMODB,
): { readonly forward: Forward; readonly close: () => void } => {
  const { hostname: host, port } = new URL(emulator);
  const idle: Socket[] = [];
  const open = new Set<Socket>();

  const socket = (): Socket => {
    const known = idle.pop();
    if (known !== undefined) return known;
    const opened = connect({ host, port: Number(port), noDelay: true });
    open.add(opened);
    opened.once("close", () => {
      open.delete(opened);
      const position = idle.indexOf(opened);
      if (position >= 0) idle.splice(position, 1);
    });
    opened.on("error", () => {});
    return opened;
  };

  const forward: Forward = (operation, body) =>
    new Promise((resolve, reject) => {
      const used = socket();
      let received: Buffer = Buffer.alloc(0);
      const onClose = (): void => reject(new Error(`The emulator ended the connection of a ${operation}`));
      const onData = (chunk: Buffer): void => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const answer = answerIn(received);
        if (answer === undefined) return;
        used.off("data", onData);
        used.off("close", onClose);
        idle.push(used);
        resolve(answer);
      };
      used.on("data", onData);
      used.once("close", onClose);
      used.write(
        `POST / HTTP/1.1\r\nhost: ${host}:${port}\r\ncontent-type: application/x-amz-json-1.0\r\n` +
          `x-amz-target: ${api}.${operation}\r\nauthorization: ${SIGNATURE}\r\nx-amz-date: 20261121T120000Z\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  const close = (): void => {
    for (const each of open) each.destroy();
  };
  return { forward, close };
};

const HEAD_END = "\r\n\r\n";

/** The answer that these bytes are; undefined while some are missing. The emulators always name a body's length. */
const answerIn = (received: Buffer): WireAnswer | undefined => {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length === undefined) throw new Error(`An answer without a length: ${head}`);
  const bodyStart = headEnd + HEAD_END.length;
  const bodyEnd = bodyStart + Number(length);
  if (received.length < bodyEnd) return undefined;
  return { status: Number(head.split(" ")[1]), body: received.toString("utf8", bodyStart, bodyEnd) };
};
