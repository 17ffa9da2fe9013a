import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import {
  type Answers,
  assertFree,
  assertValid,
  questions,
  repositoryFiles,
  whatToCommit,
} from "../../../../tools/init/files.ts";

const answers: Answers = {
  "upstream-url": "https://api.upstream.example/v1",
  account: "111122223333",
  region: "eu-west-1",
  "alarm-email": "ops@shop.example",
};
const installed = JSON.stringify({ dependencies: { "airtime-data-identity-service": "file:service-1.0.0.tgz" } });
const files = repositoryFiles("/home/ada/Shop Stages", answers, installed);
const file = (path: string): string => files.get(path) ?? "";

describe("airtime init", () => {
  test("it makes four files", () => {
    expect([...files.keys()]).toEqual(["package.json", "stages.ts", "cdk.json", ".github/workflows/deploy.yml"]);
  });

  test("package.json keeps what npm has written, and has each command as a script", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const made = JSON.parse(file("package.json"));
    expect(made).toMatchObject({
      name: "shop-stages",
      private: true,
      type: "module",
      dependencies: { "airtime-data-identity-service": "file:service-1.0.0.tgz" },
    });
    const commands = Object.keys(scripts).filter((name) => scripts[name].includes("tools/airtime/main.ts"));
    expect(new Set(Object.keys(made.scripts))).toEqual(new Set(commands));
    for (const name of commands) {
      expect(made.scripts[name]).toBe(scripts[name].replace("node tools/airtime/main.ts", "airtime"));
    }
  });

  test("package.json keeps the scripts of the repository, and is refused if one has a name that is needed", () => {
    const own = JSON.stringify({ scripts: { lint: "eslint .", admin: "airtime admin" } });
    expect(() => assertFree(own)).not.toThrow();
    const made = JSON.parse(repositoryFiles("/home/ada/shop", answers, own).get("package.json") ?? "");
    expect(made.scripts).toMatchObject({ lint: "eslint .", deploy: "airtime deploy" });
    expect(() => assertFree(JSON.stringify({ scripts: { start: "vite", deploy: "sls deploy" } }))).toThrow(
      new SettingsError(
        "package.json has a script start and deploy already, which would be replaced. Nothing was changed.",
      ),
    );
  });

  test("stages.ts has an answer as it was given, also with what replaceAll would read as a pattern", () => {
    const url = "https://api.upstream.example/$&/v1";
    expect(
      repositoryFiles("/home/ada/shop", { ...answers, "upstream-url": url }, installed).get("stages.ts"),
    ).toContain(`upstreamBaseUrl: "${url}",`);
  });

  test("stages.ts has the answers in the place of every example, and nothing else differs from the committed one", () => {
    const text = file("stages.ts");
    for (const { name, example } of questions) {
      expect(text).toContain(answers[name]);
      expect(text).not.toContain(example);
    }
    expect(text).toContain('zones: ["eu-west-1a", "eu-west-1b"]');
    const back = text
      .replaceAll("https://api.upstream.example/v1", "https://upstream.example.com/v1")
      .replaceAll("111122223333", "000000000000")
      .replaceAll("eu-west-1", "us-east-1")
      .replaceAll("ops@shop.example", "operations@example.com");
    expect(back).toBe(readFileSync("stages.ts", "utf8"));
  });

  test("cdk.json is the committed one with the command airtime", () => {
    const { "//": explained, ...made } = JSON.parse(file("cdk.json"));
    expect(explained.length).toBeGreaterThan(0);
    expect(made).toEqual({ ...JSON.parse(readFileSync("cdk.json", "utf8")), app: "airtime app" });
  });

  test("the workflow uses the actions of this repository's workflows, at their commits", () => {
    const uses = (text: string) => [...text.matchAll(/uses: (\S+@\S+ # \S+)/g)].map(([, name]) => name);
    const own = uses(readFileSync(".github/workflows/deploy-stage.yml", "utf8"));
    expect(new Set(uses(file(".github/workflows/deploy.yml")))).toEqual(new Set(own));
  });

  test.each([
    [{ account: "1111" }, "account: An AWS account id has 12 digits"],
    [{ region: "Ireland" }, "An AWS region has a name such as eu-west-1"],
    [{ "upstream-url": "http://api.upstream.example/v1" }, "The upstream's URL must begin with https://"],
    [{ "alarm-email": "ops" }, "alarmEmail: "],
  ])("the answers %j are refused with a sentence", (changes, sentence) => {
    const wrong = () => assertValid({ ...answers, ...changes });
    expect(wrong).toThrow(SettingsError);
    expect(wrong).toThrow(sentence);
  });

  test.each([
    ["{", "package.json is no manifest of npm: Expected property name"],
    ["[]", "package.json is no manifest of npm. Nothing was changed."],
  ])("a package.json that is %s is refused with a sentence", (present, sentence) => {
    const made = () => repositoryFiles("/shop", answers, present);
    expect(made).toThrow(SettingsError);
    expect(made).toThrow(sentence);
  });

  test("the examples are accepted", () => {
    const examples = questions.map(({ name, example }) => [name, example] as const);
    expect(() => assertValid({ ...answers, ...Object.fromEntries(examples) })).not.toThrow();
  });
});

test.each([
  ["file:../service/service-1.0.0.tgz", "../service/service-1.0.0.tgz"],
  ["file:/home/ada/service-1.0.0.tgz", "/home/ada/service-1.0.0.tgz"],
])("a package that was installed from %s is to be moved into the folder, where a pipeline finds it", (from, path) => {
  expect(whatToCommit(JSON.stringify({ dependencies: { "airtime-data-identity-service": from } }))).toBe(
    `The package is installed from ${path}, which a clone of this repository lacks: copy it into this folder, npm install ./service-1.0.0.tgz, and commit it with package-lock.json.`,
  );
});

test.each(["file:service-1.0.0.tgz", "file:vendor/service-1.0.0.tgz", "1.0.0"])(
  "a package that was installed from %s stays where it is",
  (from) => {
    const text = whatToCommit(JSON.stringify({ dependencies: { "airtime-data-identity-service": from } }));
    expect(text).toBe(
      `Commit package-lock.json${from.startsWith("file:") ? ` and ${from.slice(5)}` : ""} too, and none of node_modules, cdk.out and .local.`,
    );
  },
);
