import { describe, expect, test } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { parseSettings } from "../../../../tools/local/settings.ts";

describe("the settings of npm start", () => {
  test("the settings of npm start have defaults, also where a variable is empty", () => {
    expect(parseSettings([], { PORT: "", UPSTREAM_BASE_URL: " " })).toEqual({
      port: 4010,
      dataDir: ".local/data",
      serviceFile: ".local/service.json",
      fresh: false,
      workers: "on",
      awsCalls: "short",
      requestsPerSecondMax: 200,
    });
  });

  test("the settings of npm start come from options and environment, and trailing slashes of the upstream's URL are removed", () => {
    const env = { PORT: "0", UPSTREAM_BASE_URL: "https://x.test/v1/", UPSTREAM_LIVE_KEY: "live_x", WORKERS: "off" };
    expect(parseSettings(["--fresh"], env)).toMatchObject({
      port: 0,
      fresh: true,
      workers: "off",
      upstream: { baseUrl: "https://x.test/v1", liveKey: "live_x" },
    });
  });

  test("several keys of the upstream are separated by spaces", () => {
    const env = { UPSTREAM_BASE_URL: "https://x.test/v1", UPSTREAM_LIVE_KEY: " live_x  live_y " };
    expect(parseSettings([], env)?.upstream?.liveKey).toBe("live_x\nlive_y");
  });

  test("the settings of npm start are undefined with --help", () => {
    expect(parseSettings(["--help"], {})).toBeUndefined();
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    ["a PORT that is not a number", [], { PORT: "40x" }, /^PORT must be a number from 0 to 65535; it is "40x"\.$/],
    ["a PORT above 65535", [], { PORT: "65536" }, /^PORT must be a number from 0 to 65535/],
    ["an upstream without its key", [], { UPSTREAM_BASE_URL: "https://x.test/v1" }, /UPSTREAM_LIVE_KEY is not/],
    ["a key without its upstream", [], { UPSTREAM_LIVE_KEY: "live_x" }, /UPSTREAM_BASE_URL is not/],
    ["an upstream that is not a URL", [], { UPSTREAM_BASE_URL: "x", UPSTREAM_LIVE_KEY: "y" }, /must be an http or/],
    ["a value of AWS_CALLS that is neither short nor sdk", [], { AWS_CALLS: "no" }, /^AWS_CALLS must be short or sdk/],
    ["a limit that is no number", [], { REQUESTS_PER_SECOND_MAX: "many" }, /^REQUESTS_PER_SECOND_MAX must be a number/],
    ["a value of WORKERS that is neither on nor off", [], { WORKERS: "no" }, /^WORKERS must be on or off/],
    ["an unknown option", ["--frsh"], {}, /^The only options are --fresh and --help; given: --frsh\.$/],
  ])("refuse %s with a message", (_what, args, env, message) => {
    expect(() => parseSettings(args, env)).toThrow(SettingsError);
    expect(() => parseSettings(args, env)).toThrow(message);
  });
});
