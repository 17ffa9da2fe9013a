import { describe, expect, test } from "vitest";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { probeUpstream } from "../../../../shared/upstream/probe.ts";
import type { ProbeReport } from "../../../../shared/upstream/probe-conclusion.ts";
import { type ProfileChanges, profileOf } from "../../../../shared/upstream/profile.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { manners } from "../../../../tools/simulator/manner.ts";
import type { SimulatorOptions } from "../../../../tools/simulator/server.ts";
import { aSimulator, LIVE_KEY, TEST_KEY } from "../../../builders/upstream/upstream-simulator.ts";

type Probed = ProbeReport & {
  readonly state: Awaited<ReturnType<typeof aSimulator>>["state"];
  /** The results by request. */
  readonly results: Readonly<Record<string, string>>;
};

const probe = async (
  options: Partial<SimulatorOptions>,
  changes: ProfileChanges = { reference: "documented" },
  ...faults: readonly Fault[]
): Promise<Probed> => {
  const { baseUrl, state } = await aSimulator(options);
  state.faults.add(...faults);
  const report = await probeUpstream({ baseUrl, profile: profileOf(changes), testKey: TEST_KEY });
  return { ...report, state, results: Object.fromEntries(report.checks.map((each) => [each.request, each.result])) };
};

/** What every upstream should do. */
const accepted = {
  catalog: "accepted",
  data: "accepted",
  airtime: "accepted",
  "nin verification": "accepted",
  "bvn verification": "accepted",
  "nin retrieval": "accepted",
  "bvn retrieval": "accepted",
  "data with a wrong number": "refused",
  "airtime with a wrong number": "refused",
  "nin verification with a wrong number": "refused",
  "bvn verification with a wrong number": "refused",
  "nin retrieval with a wrong number": "refused",
  "bvn retrieval with a wrong number": "refused",
};
const referenced = ["airtime", "nin verification", "bvn verification", "nin retrieval", "bvn retrieval"].map(
  (kind) => `${kind} with our reference`,
);
const withReference = (result: string) => Object.fromEntries(referenced.map((request) => [request, result]));

describe("the probe of an upstream that works", () => {
  test("an upstream that ignores what it does not know takes our reference with every order, and refuses it the second time", async () => {
    const { results, findings, proposed, state } = await probe({});
    expect(results).toEqual({
      ...accepted,
      ...withReference("accepted"),
      "data with an additional field": "accepted",
      "data with a reference that was used": "refused",
    });
    expect(proposed).toEqual({ reference: "all" });
    expect(findings).toEqual(['The profile\'s reference is "documented", and "all" fits']);
    expect(new Set(state.requests.map(({ mode }) => mode))).toEqual(new Set(["test"]));
    expect(state.balanceKobo).toBe(state.settings.startBalanceKobo);
  });

  test("a sloppy upstream is read as well", async () => {
    const { results, findings, proposed } = await probe({ manner: "sloppy" }, { reference: "all" });
    expect(results).toMatchObject({ ...accepted, ...withReference("accepted") });
    expect([findings, proposed]).toEqual([[], { reference: "all" }]);
  });

  test("a strict upstream refuses our reference where its document does not show it, and every additional field", async () => {
    const { results, findings, proposed } = await probe({ manner: "strict" }, { reference: "all" });
    expect(results).toEqual({
      ...accepted,
      ...withReference("refused"),
      "data with an additional field": "refused",
      "data with a reference that was used": "refused",
    });
    expect(proposed).toEqual({ reference: "documented" });
    expect(findings).toHaveLength(6);
    expect(findings[0]).toBe(
      'Our reference is not accepted: airtime with our reference, 422, unknown: duplicate_reference ("The given data was invalid.")',
    );
    expect(findings.at(-1)).toBe('The profile\'s reference is "all", and "documented" fits');
  });

  test("a strict upstream with the profile that was proposed has no finding: no order has our reference where it is refused", async () => {
    const { results, findings, proposed } = await probe({ manner: "strict" });
    expect(results).toMatchObject(withReference("refused"));
    expect([findings, proposed]).toEqual([[], { reference: "documented" }]);
  });

  test("an upstream whose references are made of the recipient's or the person's number is named", async () => {
    const referenceOf = (number: string) => ({
      ...({ kind: "custom", status: 200, headers: { "content-type": "application/json" } } as const),
      body: JSON.stringify({
        ...{ status: true, message: "Done" },
        data: { transaction: { reference: `U-${number}-1`, status: "success", amount: 100 } },
      }),
    });
    const { findings } = await probe(
      {},
      { reference: "all" },
      { ...referenceOf("2348031234567"), path: "/vtu/airtime" },
      { ...referenceOf("12345678901"), path: "/identity/bvn/verify" },
    );
    expect(findings.filter((finding) => finding.startsWith("The upstream makes"))).toEqual([
      'The upstream makes its reference of the number: airtime, 200, delivered ("Done"). The books keep it, also after an erasure',
      expect.stringMatching(/^The upstream makes its reference of the number: bvn verification, 200/),
    ]);
  });

  test("limits that differ are proposed", async () => {
    const { findings, proposed } = await probe({ limits: { vtu: 600 } }, { reference: "all" });
    expect(proposed).toEqual({ reference: "all", limits: { vtu: 600 } });
    expect(findings).toEqual(["The limit of vtu is 600 a minute, and the profile says 60"]);
  });
});

describe("the probe of an upstream that can be asked", () => {
  const lookup = { path: "/transactions/{reference}", our_reference: "client_reference" };
  const balance = { path: "/wallet", object: "wallet" };

  test.each(manners)("a %s one is asked for the order, for an unknown one, and for the balance", async (manner) => {
    const { results, findings } = await probe({ manner }, { lookup, balance });
    expect(results).toMatchObject({
      "lookup of the data order": "accepted",
      "lookup of an unknown reference": "refused",
      balance: "accepted",
    });
    expect(findings.filter((finding) => /lookup|looked up|balance/.test(finding))).toEqual([]);
  });

  test("what the profile has wrong is named", async () => {
    const { findings } = await probe(
      {},
      { reference: "all", lookup: { ...lookup, our_reference: "ours", amount: "sum" }, balance: { path: "/wallet" } },
    );
    expect(findings).toEqual([
      'The answer to a lookup lacks our_reference, amount, or has another value: lookup of the data order, 200, found ("The transaction was found.")',
      'The balance cannot be read: balance, 200, no_amount ("The wallet was found.")',
    ]);
    expect((await probe({}, { reference: "all", lookup: { path: "/requery/{reference}" } })).findings).toEqual([
      expect.stringMatching(/^An order cannot be looked up by our reference: lookup of the data order, 404/),
    ]);
  });

  test("one that answers every question with its newest order is found out", async () => {
    const transaction = { reference: "U-1", status: "success", amount: 500, type: "data", phone_number: "08031234567" };
    const body = JSON.stringify({ status: true, message: "Found", data: { transaction } });
    const { findings } = await probe(
      {},
      { reference: "all", lookup },
      { kind: "custom", path: "/transactions/", status: 200, body },
    );
    expect(findings).toEqual([
      expect.stringMatching(/^The answer to a lookup lacks our_reference, or has another value: /),
      expect.stringMatching(/^A lookup of an unknown reference is not answered as not found: /),
    ]);
  });
});

describe("the probe of a broken upstream", () => {
  test("a page in the place of every answer says that the base URL is wrong, and proposes nothing", async () => {
    const { findings, proposed, results } = await probe({}, {}, { kind: "html" });
    expect(findings).toEqual([
      "The catalog cannot be read: the answer (200) is not the upstream's own: check the base URL and paths.catalog. No other answer counts",
    ]);
    expect(proposed).toBeUndefined();
    expect(results.catalog).toBe("unclear");
  });

  test("a test key or an address that the upstream refuses is named", async () => {
    expect((await probe({ testKey: "test_other" })).findings).toEqual([
      "The catalog cannot be read: the upstream refuses the test key (401). No other answer counts",
    ]);
    expect((await probe({}, {}, { kind: "status", status: 403 })).findings[0]).toContain("our address (403)");
  });

  test("an upstream whose refusals are 500s, and that takes a reference twice, is distinguished from one that works", async () => {
    const message = "Out of \u001b[31m\u202eorder";
    const broken = await probe(
      {},
      { reference: "all", fields: { phone_number: "phone_number", reference: "client_reference" } },
      { kind: "custom", path: "/identity/nin/verify", status: 500, body: JSON.stringify({ status: false, message }) },
    );
    expect(broken.proposed).toBeUndefined();
    expect(broken.findings).toEqual([
      'A right order is not accepted: nin verification, 500, unknown: status_500 ("Out of [31morder")',
      expect.stringMatching(
        /^A refusal is not recognised, so such an order would stay open: nin verification with a wrong number, 500/,
      ),
      expect.stringMatching(
        /^The upstream takes a reference twice, so it does not recognise a copy: data with a reference/,
      ),
    ]);
  });

  test("an upstream that does not answer leaves everything unclear", async () => {
    const { findings, results } = await probe({}, {}, { kind: "drop_before_reading" });
    expect(findings).toEqual([expect.stringMatching(/^The catalog cannot be read: no answer came/)]);
    expect(new Set(Object.values(results))).toEqual(new Set(["unclear"]));
  });
});

test.each([LIVE_KEY, "", "live_test_", "TEST_x", "test_with space"])(
  "the probe sends nothing with the key %j, which is no test key",
  async (testKey) => {
    const { baseUrl, state } = await aSimulator();
    state.faults.add({ kind: "html", times: 100 });
    await expect(probeUpstream({ baseUrl, profile: profileOf({}), testKey })).rejects.toThrow(OperatorError);
    expect(state.faults.list()).toMatchObject([{ times: 100 }]);
  },
);
