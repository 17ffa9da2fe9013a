import { Argument, Option } from "commander";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ActionName, type ActionOutput, actionNames } from "../../../../shared/contract/actions/actions.ts";
import { permissionSchema } from "../../../../shared/contract/permission.ts";
import { commandOf, reportOf, typedInput } from "../../../../tools/admin/action-command.ts";

/** What a command takes of arguments and options, or why it refuses them. */
const typed = <Name extends ActionName>(name: Name, given: Readonly<Record<string, unknown>>) =>
  typedInput<Name>(name, commandOf(name) ?? {}).safeParse({ account: "acc_1", id: "b", why: "because", ...given });

const refusalOf = (name: ActionName, given: Readonly<Record<string, unknown>>): string | undefined => {
  const issue = typed(name, given).error?.issues[0];
  return issue && `${String(issue.path[0])}: ${issue.message}`;
};

const amount = (name: "wallet fund" | "wallet adjust" | "wallet threshold", naira: string): number | undefined =>
  typed(name, { naira }).data?.amount_kobo;

test("an amount of NGN with no, one or two decimals is taken as the same amount in kobo", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), (kobo) => {
      const text = `${Math.floor(kobo / 100)}.${String(kobo % 100).padStart(2, "0")}`;
      expect(amount("wallet fund", text)).toBe(kobo);
      expect(amount("wallet fund", text.replace(/\.?0{1,2}$/, "") || "0")).toBe(kobo);
      expect(amount("wallet adjust", `-${text}`)).toBe(-kobo);
      expect(amount("wallet adjust", `+${text}`)).toBe(kobo);
    }),
  );
});

test("an amount may have commas between thousands, and nowhere else, as in the console", () => {
  expect(amount("wallet fund", "50,000.50")).toBe(50_000_50);
  for (const name of ["wallet fund", "wallet adjust", "wallet threshold"] as const) {
    expect(refusalOf(name, { naira: "500,00" })).toMatch(/^naira: Must be an amount of NGN .* commas only/);
  }
});

test.for(["0", "0.00", "-5", "1.005", "1e3", "0x10", "5,00", "NaN", "12345678901", "10,000,000,000", ""])(
  "wallet fund refuses the amount '%s'",
  (naira) => {
    expect(refusalOf("wallet fund", { naira })).toMatch(/^naira: /);
  },
);

test("a threshold is taken as kobo, 0 included, and anything else is refused", () => {
  expect(["500.5", "0", "0.00"].map((text) => amount("wallet threshold", text))).toEqual([500_50, 0, 0]);
  for (const naira of ["-5", "1.005", "none", ""]) {
    expect(refusalOf("wallet threshold", { naira })).toMatch(/^naira: /);
  }
});

test("permissions are taken without duplicates, and unknown ones are refused", () => {
  const key = (permissions: string) => ({ mode: "live", permissions });
  expect(typed("keys create", key("vtu, identity,vtu")).data?.permissions).toEqual(["vtu", "identity"]);
  for (const text of ["", "vtu,", "all"]) {
    expect(refusalOf("keys create", key(text))).toBe(
      `permissions: Must be some of ${permissionSchema.options.join(", ")}`,
    );
  }
});

test("a refused field has the name under which it was typed", () => {
  expect(refusalOf("accounts owners", { set: ["ada"] })).toBe('set: "ada": Must be email:ADDRESS, group:NAME or none');
  expect(refusalOf("accounts restrict", { why: "no" })).toBe("why: Must have at least 3 characters");
});

const report = <Name extends ActionName>(name: Name, output: ActionOutput<Name>) =>
  reportOf(name, commandOf(name) ?? {}, output, "Africa/Lagos");

test("an output is a line for each field: amounts in NGN, yes or no, entries of a list, and a dash for what is not there", () => {
  expect(report("wallet threshold", { account_id: "acc_1", low_balance_threshold: 1_250.5 }).text).toBe(
    "account_id             acc_1\nlow_balance_threshold  1,250.50",
  );
  expect(report("wallet threshold", { account_id: "acc_1", low_balance_threshold: null }).text).toMatch(
    /threshold {2}-$/,
  );
  const none = { account_id: "acc_1", endpoint: null, name: null, url: null, status: "none" } as const;
  const endpoint = { ...none, failing_since: null, down: false };
  const { text } = report("webhook show", { ...endpoint, previous_secret_until: null, events: ["a", "b"] });
  expect(text).toMatch(/down +no\n[\s\S]*events +a, b$/);
});

test("a table has the columns of the entry, with amounts in NGN", () => {
  const account = {
    account_id: "acc_1",
    name: "checkout",
    status: "active",
    created_at: "2026-11-21T09:30:00Z",
  } as const;
  expect(report("accounts list", { accounts: [{ ...account, balance: 1_500 }] }).text).toBe(
    "ACCOUNT  NAME      STATUS   BALANCE  CREATED\nacc_1    checkout  active  1,500.00  2026-11-21T10:30:00.000+01:00",
  );
  expect(report("accounts list", { accounts: [] }).text).toBe("None.");
  expect(report("ips list", { account_id: "acc_1", ips: ["10.0.0.0/8"] }).text).toBe("ADDRESS OR RANGE\n10.0.0.0/8");
});

test("a switch whose audit entry could not be written is changed, and is a fault", () => {
  const since = "2026-11-21T09:30:00Z";
  const off = {
    purchases: "off",
    since,
    by: "ada",
    caller_arn: null,
    why: "restore",
    part: null,
    changed: true,
  } as const;
  expect(report("purchases off", off).ok).toBeUndefined();
  const failed = report("purchases off", { ...off, audit_error: "ThrottlingException" });
  expect(failed.ok).toBe(false);
  expect(failed.text).toContain("The audit entry could not be written (ThrottlingException)");
});

test("times of a table and of a field are in the zone of the stage with its offset, and JSON has UTC", () => {
  const at = "2026-11-21T09:30:00.000Z";
  const local = "2026-11-21T10:30:00.000+01:00";
  const person = {
    ...{ name: "ada", roles: ["reader" as const], is_owner: false, accounts: [] },
    first_signed_in_at: at,
  };
  const people = report("access people", { people: [{ ...person, last_signed_in_at: null }] });
  expect(people.text).toMatch(/ada +reader +2026-11-21T10:30:00\.000\+01:00 +-$/);
  expect(JSON.stringify(people.json)).toContain(at);
  const review = report("access review", { access: [], people: [{ ...person, last_signed_in_at: at }] });
  expect(review.text).toMatch(/ada +Reader: sees everything, phone numbers masked +- /);
  expect(String(review.text).split(local)).toHaveLength(3);
  const account = { account_id: "acc_1", name: "demo", status: "active" as const, created_at: at };
  expect(report("accounts create", account).text).toContain(local);
});

test("no refusal of what was typed is a text of the schema library, which names no value that is right", () => {
  const refusals = actionNames.flatMap((name) => {
    const { takes = {} } = commandOf(name) ?? {};
    const withValue = Object.values(takes).filter((flags) => flags.includes("<"));
    return withValue.flatMap((flags) => {
      const field = flags.startsWith("-") ? new Option(flags).attributeName() : new Argument(flags).name();
      return ["", "?", "-1"].flatMap((text) => {
        const { error } = typed(name, { [field]: flags.includes("...") ? [text] : text });
        return (error?.issues ?? [])
          .filter(({ path }) => path[0] === field)
          .map(({ message }) => `${name} ${flags}: ${message}`);
      });
    });
  });
  expect(refusals.length).toBeGreaterThan(100);
  expect([...new Set(refusals.filter((text) => /: (Invalid|Unrecognized|Too )/.test(text)))]).toEqual([]);
});

test("a record in an output is printed with its values as they are printed elsewhere, and without what is absent", () => {
  const rule = {
    ...{ rule_id: "pr_1", kind: "airtime" as const, network: null, plan_id: null, percent: null, amount: 1_250.5 },
    ...{ from: "2026-11-28T18:36:49.700Z", state: "later" as const, below_cost: false },
  };
  const output = { account_id: "acc_1", rule };
  const { text } = reportOf("prices set", commandOf("prices set") ?? {}, output, "Africa/Lagos");
  expect(text).toBe(
    [
      "account_id  acc_1",
      "rule        rule_id=pr_1 kind=airtime amount=1,250.50 from=2026-11-28T19:36:49.700+01:00 state=later below_cost=no",
    ].join("\n"),
  );
});
