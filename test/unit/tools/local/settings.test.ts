import { describe, expect, test } from "vitest";
import { callerRoutes, routeLimits } from "../../../../infra/gateway.ts";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { rateGroups } from "../../../../shared/contract/limits.ts";
import { parseSettings } from "../../../../tools/local/settings.ts";

const UPSTREAM = {
  UPSTREAM_BASE_URL: "https://x.test/v1",
  UPSTREAM_LIVE_KEY: "live_x",
  UPSTREAM_PROFILE: '{"reference":"all"}',
};

describe("the settings of npm start", () => {
  test("the settings of npm start have defaults, also where a variable is empty", () => {
    expect(parseSettings([], { PORT: "", UPSTREAM_BASE_URL: " " })).toEqual({
      port: 4010,
      dataDir: ".local/data",
      serviceFile: ".local/service.json",
      fresh: false,
      manner: "lenient",
      virtualNin: false,
      workers: "on",
      awsCalls: "short",
      requestsPerSecondMax: 1_000,
    });
  });

  test("the settings of npm start come from options and environment, and trailing slashes of the upstream's URL are removed", () => {
    const env = { ...UPSTREAM, PORT: "0", UPSTREAM_BASE_URL: "https://x.test/v1/", WORKERS: "off" };
    expect(parseSettings(["--fresh", "--strict", "--virtual-nin"], env)).toMatchObject({
      port: 0,
      fresh: true,
      manner: "strict",
      virtualNin: true,
      workers: "off",
      upstream: { baseUrl: "https://x.test/v1", liveKey: "live_x", profile: { reference: "all" } },
    });
  });

  test("an upstream without a profile is one whose orders all carry our reference", () => {
    expect(parseSettings([], { ...UPSTREAM, UPSTREAM_PROFILE: "" })?.upstream?.profile).toEqual({ reference: "all" });
  });

  test("by default a key that sends all requests of its minute at once meets its own limit before the gateway's", () => {
    const limits = routeLimits(parseSettings([], {})?.requestsPerSecondMax ?? 0);
    const tooLow = [...callerRoutes].filter(
      ([key, { group }]) => (limits.get(key) ?? 0) < 2 * rateGroups[group].requestsPerMinute,
    );
    expect(tooLow.map(([key]) => key)).toEqual([]);
  });

  test("several keys of the upstream are separated by spaces", () => {
    const env = { ...UPSTREAM, UPSTREAM_LIVE_KEY: " live_x  live_y " };
    expect(parseSettings([], env)?.upstream?.liveKey).toBe("live_x\nlive_y");
  });

  test.each(["--help", "-h"])("the settings of npm start are undefined with %s", (option) => {
    expect(parseSettings([option], {})).toBeUndefined();
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    ["a PORT that is not a number", [], { PORT: "40x" }, /^PORT must be a number from 0 to 65535; it is "40x"\.$/],
    ["a PORT above 65535", [], { PORT: "65536" }, /^PORT must be a number from 0 to 65535/],
    ["an upstream without its key", [], { UPSTREAM_BASE_URL: "https://x.test/v1" }, /UPSTREAM_LIVE_KEY is not/],
    ["a key without its upstream", [], { UPSTREAM_LIVE_KEY: "live_x" }, /UPSTREAM_BASE_URL is not/],
    ["an upstream that is not a URL", [], { ...UPSTREAM, UPSTREAM_BASE_URL: "x" }, /must be an http or/],
    ["a profile without its upstream", [], { UPSTREAM_PROFILE: '{"reference":"all"}' }, /UPSTREAM_BASE_URL is not/],
    ["a profile that is no JSON", [], { ...UPSTREAM, UPSTREAM_PROFILE: "all" }, /^UPSTREAM_PROFILE is not valid: /],
    [
      "a profile that does not say which orders have our reference",
      [],
      { ...UPSTREAM, UPSTREAM_PROFILE: "{}" },
      /^UPSTREAM_PROFILE is not valid: name its reference, "all" or "documented"\.$/,
    ],
    [
      "a profile with an unknown word",
      [],
      { ...UPSTREAM, UPSTREAM_PROFILE: '{"reference":"some"}' },
      /^UPSTREAM_PROFILE is not valid: reference: The reference goes with "all" orders, or with those "documented"\.$/,
    ],
    ["a value of AWS_CALLS that is neither short nor sdk", [], { AWS_CALLS: "no" }, /^AWS_CALLS must be short or sdk/],
    [
      "a limit that is no number",
      [],
      { REQUESTS_PER_SECOND_MAX: "many" },
      /^REQUESTS_PER_SECOND_MAX must be a whole number from 1; it is "many"\.$/,
    ],
    ["a value of WORKERS that is neither on nor off", [], { WORKERS: "no" }, /^WORKERS must be on or off/],
    [
      "an unknown option",
      ["--frsh"],
      {},
      /^The only options are --fresh, --strict, --sloppy, --virtual-nin and --help; given: --frsh\.$/,
    ],
    ["two manners of the simulator", ["--strict", "--sloppy"], {}, /^--strict does not go with --sloppy\.$/],
  ])("refuse %s with a message", (_what, args, env, message) => {
    expect(() => parseSettings(args, env)).toThrow(SettingsError);
    expect(() => parseSettings(args, env)).toThrow(message);
  });
});
