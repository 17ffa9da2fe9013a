import { promises as dns } from "node:dns";
import ipaddr from "ipaddr.js";
import { type IpRange, isWithin } from "../platform/ip-address.ts";
import { parseIpRanges } from "../platform/ip-range.ts";
import { OperatorError } from "../platform/operator-error.ts";

export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Which addresses webhooks may be sent to. */
export type AddressRules = {
  /** Internal ranges that a stage allows although they are not public: over plain http and at any port. */
  readonly allowed: readonly IpRange[];
  /** Our own hosts and the upstream's, each with its port; a default port may be left out. No endpoint may be there. */
  readonly refusedHosts: readonly string[];
  readonly resolve: Resolve;
};

const URL_LENGTH_MAX = 2_000;

/**
 * The addresses of both families. Not by `lookup`, which runs on Node's threads: two names whose servers do not answer would
 * occupy all that it may use, and the webhooks of other apps would time out. Source: Node, "Implementation considerations"
 * of DNS; nodejs/node 62599.
 */
export const createResolve =
  (resolver: { readonly resolve4: Resolve; readonly resolve6: Resolve }): Resolve =>
  async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (v4.status === "rejected" && v6.status === "rejected") throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };

/** It asks twice for each family, and for 4 seconds in all, so that a webhook has a second left. */
export const newResolver = () => new dns.Resolver({ timeout: 1_000, tries: 2 });

export const systemResolve = createResolve(newResolver());

export const splitList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

/** Every public IPv6 address is in this range; the rest is reserved or unassigned. */
const GLOBAL_UNICAST = parseIpRanges("2000::/3");

/**
 * Whether an address is public. Private, loopback, link-local (with the metadata service), shared, unspecified,
 * multicast, broadcast, benchmark and documentation ranges are not; nor are IPv6 addresses that embed an IPv4 address.
 */
const isPublic = (address: string): boolean => {
  const parsed = ipaddr.parse(address);
  return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || isWithin(address, GLOBAL_UNICAST));
};

/** Whether a connection for this URL may go to this address. Text that is not an address is refused. */
export const mayReach = (url: URL, address: string, allowed: readonly IpRange[]): boolean => {
  // A zone (`fe80::1%eth0`) selects a network interface of this machine.
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  if (isWithin(address, allowed)) return true;
  return isPublic(address) && url.protocol === "https:" && url.port === "";
};

export const isRefusedHost = (url: URL, refusedHosts: readonly string[]): boolean => {
  const hosts = [url.host, url.hostname].map((host) => host.replace(/\.(?=:|$)/, ""));
  // A refused host may be written with its scheme's default port, which a URL's host never has.
  const refuses = (refused: string): boolean =>
    ["https:", "http:"].some((scheme) => hosts.includes(URL.parse(`${scheme}//${refused}`)?.host ?? refused));
  return refusedHosts.some(refuses);
};

/** The addresses of a URL's host. The URL parser has already normalised forms like `0x7f.1` and `2130706433`. */
export const addressesOf = async (url: URL, resolve: Resolve): Promise<readonly string[]> => {
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (ipaddr.isValid(hostname)) return [hostname];
  // Always loopback (RFC 6761), whatever a resolver answers.
  if (/(^|\.)localhost$/.test(hostname)) return ["127.0.0.1"];
  return resolve(hostname);
};

/**
 * Parses an endpoint's URL: https at port 443, without credentials, at a public address, unless the stage allows its
 * address. Throws an `OperatorError` of the input's `field`. Every delivery checks the address again, because DNS may change.
 */
export const parseEndpointUrl = async (text: string, rules: AddressRules, field = "url"): Promise<URL> => {
  const refusal = (sentence: string) => new OperatorError(sentence, { field });
  const url = URL.parse(text);
  // Parsers of JSON in other languages refuse a message that ends with half of a surrogate pair.
  if (url === null) throw refusal(`"${text.slice(0, 100).toWellFormed()}" is not a URL`);
  // Other letters than those of ASCII are stored as up to nine characters.
  if (url.href.length > URL_LENGTH_MAX)
    throw refusal(`The URL must have at most ${URL_LENGTH_MAX} characters, encoded`);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refusal("The URL must begin with https://");
  if (url.username !== "" || url.password !== "") throw refusal("The URL must not contain credentials");
  if (isRefusedHost(url, rules.refusedHosts)) throw refusal(`${url.host} belongs to this service or to the upstream`);
  const addresses = await addressesOf(url, rules.resolve).catch(() => []);
  if (addresses.length === 0) throw refusal(`The name ${url.hostname} does not resolve`);
  if (addresses.every((address) => mayReach(url, address, rules.allowed))) return url;

  // The check of the same host over https at port 443 shows whether the address or the rest of the URL is refused.
  const standardUrl = new URL(`https://${url.hostname}/`);
  const unreachable = addresses.find((address) => !mayReach(standardUrl, address, rules.allowed));
  if (unreachable !== undefined) {
    const subject = url.hostname.includes(unreachable) ? unreachable : `${url.hostname} is at ${unreachable}, which`;
    throw refusal(`${subject} is not a public address`);
  }
  if (url.protocol === "http:") throw refusal("The URL must begin with https://");
  throw refusal("The URL must not name a port: webhooks go to 443");
};
