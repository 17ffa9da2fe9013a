import { createSocket } from "node:dgram";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";
import {
  type AddressRules,
  createResolve,
  mayReach,
  newResolver,
  parseEndpointUrl,
  type Resolve,
  splitList,
} from "../../../../shared/webhooks/address-guard.ts";

const https = new URL("https://app.example.com/hook");
const PUBLIC = "93.184.215.14";

const rules = (changes: Partial<AddressRules> = {}): AddressRules => ({
  allowed: [],
  refusedHosts: ["api.airtime.example", "upstream.example:8443", "Default.example:443"],
  resolve: async () => [PUBLIC],
  ...changes,
});

/** It answers nothing, and keeps which types of addresses it was asked for. */
const aSilentNameServer = async () => {
  const socket = createSocket("udp4");
  onTestFinished(() => void socket.close());
  const asked: unknown[] = [];
  // A query ends with its name, type and class, and then what the resolver can do.
  const types: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA" };
  socket.on("message", (query) => asked.push(types[query.readUInt16BE(query.indexOf("\x03com\0") + 5)]));
  await new Promise<void>((resolve) => void socket.bind(0, "127.0.0.1", resolve));
  return { address: `127.0.0.1:${socket.address().port}`, asked };
};

describe("the system's resolver", () => {
  const answering = (resolve4: Resolve, resolve6: Resolve) => createResolve({ resolve4, resolve6 })("app.example.com");
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(), { code }));

  test("gives the addresses of both families, and those of one where the other has none", async () => {
    const v6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c";
    const both = answering(
      async () => [PUBLIC],
      async () => [v6],
    );
    expect(await both).toEqual([PUBLIC, v6]);
    expect(await answering(async () => [PUBLIC], failing("ETIMEOUT"))).toEqual([PUBLIC]);
    expect(await answering(failing("ENODATA"), async () => [v6])).toEqual([v6]);
  });

  test("fails as the first family fails if neither has addresses", async () => {
    await expect(answering(failing("ENOTFOUND"), failing("ENODATA"))).rejects.toMatchObject({ code: "ENOTFOUND" });
  });

  test("occupies no thread, and asks twice for each family: a name server that does not answer must not delay the webhooks of other apps", async () => {
    const { address, asked } = await aSilentNameServer();
    const resolver = newResolver();
    resolver.setServers([address]);
    const resolving = createResolve(resolver)("app.example.com");
    expect(process.getActiveResourcesInfo()).not.toContain("GetAddrInfoReqWrap");
    await expect(resolving).rejects.toMatchObject({ code: "ETIMEOUT" });
    expect(["A", "AAAA"].map((type) => asked.filter((each) => each === type).length)).toEqual([2, 2]);
  });
});

test.each([
  PUBLIC,
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "192.167.1.1",
  "223.255.255.1",
  "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
  "2a00:1450:4009:81f::200e",
])("the public address %s may be reached", (address) => expect(mayReach(https, address, [])).toBe(true));

test.each([
  ["loopback", "127.0.0.1"],
  ["loopback", "127.255.255.254"],
  ["loopback", "::1"],
  ["private", "10.0.0.1"],
  ["private", "172.16.0.1"],
  ["private", "172.31.255.255"],
  ["private", "192.168.1.1"],
  ["link-local", "169.254.0.1"],
  ["the metadata service", "169.254.169.254"],
  ["the metadata service", "fd00:ec2::254"],
  ["the task metadata service", "169.254.170.2"],
  ["link-local", "fe80::1"],
  ["link-local with a zone", "fe80::1%eth0"],
  ["shared (CGNAT)", "100.64.0.1"],
  ["shared (CGNAT)", "100.127.255.255"],
  ["unspecified", "0.0.0.0"],
  ["this network", "0.1.2.3"],
  ["unspecified", "::"],
  ["multicast", "224.0.0.1"],
  ["multicast", "239.255.255.255"],
  ["multicast", "ff02::1"],
  ["broadcast", "255.255.255.255"],
  ["reserved", "240.0.0.1"],
  ["protocol assignments", "192.0.0.1"],
  ["documentation", "192.0.2.1"],
  ["documentation", "198.51.100.1"],
  ["documentation", "203.0.113.1"],
  ["documentation", "2001:db8::1"],
  ["documentation", "3fff::1"],
  ["benchmark", "198.18.0.1"],
  ["benchmark", "198.19.255.255"],
  ["benchmark", "2001:2::1"],
  ["6to4 relay", "192.88.99.1"],
  ["IPv4-mapped", "::ffff:10.0.0.1"],
  ["IPv4-mapped, of a public address", "::ffff:8.8.8.8"],
  ["IPv4-compatible", "::10.0.0.1"],
  ["IPv4-translated", "::ffff:0:10.0.0.1"],
  ["NAT64", "64:ff9b::a00:1"],
  ["local NAT64", "64:ff9b:1::a00:1"],
  ["6to4", "2002:a00:1::1"],
  ["Teredo", "2001::1"],
  ["ORCHID", "2001:20::1"],
  ["unique local", "fc00::1"],
  ["unique local", "fdff::1"],
  ["site-local", "fec0::1"],
  ["discard", "100::1"],
  ["not assigned", "4000::1"],
  ["segment routing", "5f00::1"],
  ["not an address", "localhost"],
  ["not an address", ""],
])("an address of kind %s, %s, may not be reached", (_kind, address) =>
  expect(mayReach(https, address, [])).toBe(false),
);

test("a public address is reached by https at port 443 only, an allowed one by http and at any port too", () => {
  const allowed = parseIpRanges("10.20.0.0/16, fd12::/32");
  for (const url of ["http://app.example.com/", "https://app.example.com:8443/", "http://app.example.com:443/"]) {
    expect(mayReach(new URL(url), PUBLIC, allowed)).toBe(false);
    expect(mayReach(new URL(url), "10.20.255.1", allowed)).toBe(true);
    expect(mayReach(new URL(url), "fd12::7", allowed)).toBe(true);
    expect(mayReach(new URL(url), "10.21.0.1", allowed)).toBe(false);
  }
});

const URL_OF_2000 = "https://app.example.com/".padEnd(2_000, "x");

test("a list in a setting may have spaces and empty places", () => {
  expect(splitList(" api.airtime.example, ,upstream.example:8443,")).toEqual([
    "api.airtime.example",
    "upstream.example:8443",
  ]);
});

describe("parseEndpointUrl", () => {
  test.each([
    ["https://app.example.com/hooks?of=airtime", "https://app.example.com/hooks?of=airtime"],
    ["https://APP.example.com:443", "https://app.example.com/"],
    ["https://8.8.8.8/hook", "https://8.8.8.8/hook"],
    ["https://localhost.example.com/hook", "https://localhost.example.com/hook"],
    [URL_OF_2000, URL_OF_2000],
  ])("the URL %s is accepted as %s", async (text, href) => {
    expect((await parseEndpointUrl(text, rules())).href).toBe(href);
  });

  test.each([
    ["http://app.example.com/hook", "must begin with https://"],
    ["ftp://app.example.com/hook", "must begin with https://"],
    ["app.example.com/hook", "is not a URL"],
    ["", "is not a URL"],
    [`${URL_OF_2000}x`, "at most 2000 characters"],
    [`https://app.example.com/${"ä".repeat(400)}`, "at most 2000 characters"],
    [`${"x".repeat(99)}😀`, `"${"x".repeat(99)}\uFFFD" is not a URL`],
    ["https://user:pass@app.example.com/", "must not contain credentials"],
    ["https://user@app.example.com/", "must not contain credentials"],
    ["https://:pass@app.example.com/", "must not contain credentials"],
    ["https://app.example.com:8443/", "must not name a port"],
    ["https://localhost/hook", "not a public address"],
    ["https://LOCALHOST./hook", "not a public address"],
    ["https://app.localhost/hook", "not a public address"],
    ["https://127.0.0.1/hook", "not a public address"],
    ["https://169.254.169.254/latest/meta-data", "not a public address"],
    ["https://[::1]/hook", "not a public address"],
    ["https://[::ffff:127.0.0.1]/hook", "not a public address"],
    ["https://[64:ff9b::7f00:1]/hook", "not a public address"],
    ["https://0x7f.1/hook", "not a public address"],
    ["https://0177.0.0.1/hook", "not a public address"],
    ["https://2130706433/hook", "not a public address"],
    ["https://127.1/hook", "not a public address"],
    ["https://0/hook", "not a public address"],
    ["https://①②⑦.0.0.1/hook", "not a public address"],
    ["https://10.0.0.1./hook", "not a public address"],
    ["https://api.airtime.example/v1/webhooks", "belongs to this service or to the upstream"],
    ["https://API.airtime.example./v1/webhooks", "belongs to this service or to the upstream"],
    ["https://default.example/v1", "belongs to this service or to the upstream"],
    ["https://default.example:443/v1", "belongs to this service or to the upstream"],
    ["https://upstream.example:8443/v1", "belongs to this service or to the upstream"],
  ])("the URL %s is refused: it %s", async (text, reason) => {
    await expect(parseEndpointUrl(text, rules())).rejects.toThrow(reason);
  });

  test.each<[string, AddressRules["resolve"], string]>([
    ["to a private address", async () => ["10.0.0.1"], "not a public address"],
    ["to a public address and a private one", async () => [PUBLIC, "10.0.0.1"], "not a public address"],
    ["to a public address and a NAT64 one", async () => [PUBLIC, "64:ff9b::a00:1"], "not a public address"],
    ["to nothing", async () => [], "does not resolve"],
    ["with an error", () => Promise.reject(new Error("ENOTFOUND")), "does not resolve"],
  ])("the URL of a name that resolves %s is refused", async (_how, resolve, reason) => {
    await expect(parseEndpointUrl("https://app.example.com/", rules({ resolve }))).rejects.toThrow(reason);
  });

  test("a long text that is no URL is quoted in 100 characters", async () => {
    const text = "x".repeat(2_000);
    await expect(parseEndpointUrl(text, rules())).rejects.toThrow(`"${text.slice(0, 100)}" is`);
  });

  test.each([
    ["https://10.0.0.1/", "10.0.0.1 is not a public address"],
    ["https://[::1]/", "::1 is not a public address"],
    ["https://localhost/", "localhost is at 127.0.0.1, which is not a public address"],
  ])("the refusal of %s names an address once", async (text, sentence) => {
    await expect(parseEndpointUrl(text, rules())).rejects.toThrow(new RegExp(`^${sentence}$`));
  });

  test("a refused host that no URL can have refuses no other", async () => {
    const url = await parseEndpointUrl("https://app.example.com/", rules({ refusedHosts: ["no host"] }));
    expect(url.hostname).toBe("app.example.com");
  });

  test("a stage that allows loopback accepts plain http at any port of it, also by name", async () => {
    const allowed = parseIpRanges("127.0.0.0/8,::1/128");
    for (const url of ["http://127.0.0.1:3000/hook", "http://localhost:3000/hook", "http://[::1]:3000/hook"]) {
      expect((await parseEndpointUrl(url, rules({ allowed }))).href).toBe(url);
    }
    await expect(parseEndpointUrl("http://10.0.0.1/", rules({ allowed }))).rejects.toThrow("not a public address");
  });
});
