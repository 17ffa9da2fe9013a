/** Lambda answers at most 6 MB, of which this leaves some for the head. Source: AWS Lambda, "Lambda quotas". */
export const RESPONSE_BYTES_MAX = 5_900_000;

/** What a body takes of it: Lambda encodes the body as a JSON string. */
export const responseBytes = (body: string): number => Buffer.byteLength(JSON.stringify(body));
