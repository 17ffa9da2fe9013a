import { promises as dns } from "node:dns";
import ipaddr from "ipaddr.js";
import { type IpRange, isWithin, parseIpRanges } from "../platform/ip-range.ts";

/** Asks for all addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Where a webhook may go. */
export type AddressRules = {
  /** Ranges inside that a stage names: they are reached although they are not public, with plain http and at any port. */
  readonly allowed: readonly IpRange[];
  /** Our own hosts and the upstream's, with a port where it is not the scheme's own. No endpoint of an account is there. */
  readonly refusedHosts: readonly string[];
  readonly resolve: Resolve;
};

/** Why a URL is not one for webhooks, in a sentence. */
export class EndpointUrlError extends Error {
  override readonly name = "EndpointUrlError";
}

const URL_LENGTH_MAX = 2_000;

export const systemResolve: Resolve = async (hostname) =>
  (await dns.lookup(hostname, { all: true })).map(({ address }) => address);

export const splitList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

/** The internet's own addresses are all in here; everything outside has a special meaning or none yet. */
const GLOBAL_UNICAST = parseIpRanges("2000::/3");

/**
 * Whether an address is a machine's on the internet. Private, loopback, link-local (with the metadata service), shared, unspecified,
 * multicast, broadcast, benchmark and documentation ranges are not; nor is whatever carries an IPv4 address inside an IPv6 one.
 */
const isPublic = (address: string): boolean => {
  const parsed = ipaddr.parse(address);
  return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || isWithin(address, GLOBAL_UNICAST));
};

/** Whether a connection for this URL may go to this address; anything that is no address may not be reached. */
export const mayReach = (url: URL, address: string, allowed: readonly IpRange[]): boolean => {
  // A zone (`fe80::1%eth0`) names an interface of ours.
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  if (isWithin(address, allowed)) return true;
  return isPublic(address) && url.protocol === "https:" && url.port === "";
};

export const isRefusedHost = (url: URL, refusedHosts: readonly string[]): boolean => {
  const hosts = [url.host, url.hostname].map((host) => host.replace(/\.(?=:|$)/, ""));
  return refusedHosts.some((refused) => hosts.includes(refused.toLowerCase()));
};

/** The addresses that a URL's host stands for. The URL parser has made a literal of `0x7f.1`, `2130706433` and their like. */
export const addressesOf = async (url: URL, resolve: Resolve): Promise<readonly string[]> => {
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (ipaddr.isValid(hostname)) return [hostname];
  // These names mean loopback whatever a resolver says (RFC 6761).
  if (/(^|\.)localhost$/.test(hostname)) return ["127.0.0.1"];
  return resolve(hostname);
};

/**
 * Reads the URL of an account's endpoint: https at its own port, without credentials, at a public address, or within what the stage
 * allows. Throws an `EndpointUrlError`. What a name resolves to may change: each delivery looks again.
 */
export const parseEndpointUrl = async (text: string, rules: AddressRules): Promise<URL> => {
  const url = URL.parse(text);
  if (url === null || text.length > URL_LENGTH_MAX) throw new EndpointUrlError(`"${text.slice(0, 100)}" is no URL`);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new EndpointUrlError("The URL must begin with https://");
  if (url.username !== "" || url.password !== "") throw new EndpointUrlError("The URL must not hold credentials");
  if (isRefusedHost(url, rules.refusedHosts)) throw new EndpointUrlError(`${url.host} is not an app's own host`);
  const addresses = await addressesOf(url, rules.resolve).catch(() => []);
  if (addresses.length === 0) throw new EndpointUrlError(`The name ${url.hostname} does not resolve`);
  if (addresses.every((address) => mayReach(url, address, rules.allowed))) return url;

  // The same address over https at port 443 tells whether the address is to blame, or the rest of the URL.
  const plain = new URL(`https://${url.hostname}/`);
  const unreachable = addresses.find((address) => !mayReach(plain, address, rules.allowed));
  if (unreachable !== undefined)
    throw new EndpointUrlError(`${url.hostname} is at ${unreachable}, which is no public address`);
  if (url.protocol === "http:") throw new EndpointUrlError("The URL must begin with https://");
  throw new EndpointUrlError("The URL must not name a port: webhooks go to 443");
};
