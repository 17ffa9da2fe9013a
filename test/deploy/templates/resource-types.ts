import { CloudFormationClient, ValidateTemplateCommand } from "@aws-sdk/client-cloudformation";
import { afterAll, expect, test } from "vitest";
import { stageVariants } from "../../builders/stage-variants.ts";
import { readTemplate, stackTemplates } from "../../builders/templates.ts";
import { startEmulator } from "../emulator.ts";

/** Goal: of every stage, the emulator refuses only what it does not have; variants.deploy.ts deploys what it has. */
const emulator = await startEmulator();
afterAll(() => emulator.stop());
Object.assign(process.env, emulator.environment);

const refusal = (...types: readonly string[]) =>
  `Template format error: Unrecognized resource types: [${types.map((type) => `AWS::${type}`).join(", ")}]`;
const CANARY = refusal("CodeDeploy::Application", "CodeDeploy::DeploymentConfig", "CodeDeploy::DeploymentGroup");
const ADDRESSES = refusal("EC2::EIP", "EC2::NatGateway");

/** Which stacks of a variant the emulator refuses, with its words; it accepts the others. */
const refusals: Readonly<Record<keyof typeof stageVariants, Readonly<Record<string, string>>>> = {
  sandbox: {},
  prod: { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "one zone": { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "three zones with addresses": { "Prod-Network": refusal("EC2::NatGateway"), "Prod-Service": CANARY },
  adopted: { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "copies in another region": {
    "Prod-Data": refusal("Backup::BackupSelection"),
    "Prod-Network": ADDRESSES,
    "Prod-Service": CANARY,
  },
  "a door for callers": { "Sandbox-Service": refusal("WAFv2::WebACLAssociation") },
  "a private door for callers, and a domain for the others": { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "every setting, in an existing VPC": { "Prod-Service": CANARY, "Prod-Administrator": refusal("Budgets::Budget") },
};

const typed = (Type: string) => [Type.replaceAll(":", ""), { Type }] as const;

test.each(Object.entries(stageVariants))(
  "the emulator refuses of this variant of a stage only what it has no resource types for: %s",
  async (variant, [stage, changes]) => {
    const cloudFormation = new CloudFormationClient({});
    const refused: Record<string, string> = {};
    for (const [stack, template] of stackTemplates(stage, changes)) {
      // A whole template is longer than what a request may have.
      const types = new Set(readTemplate(template).every.map(({ Type }) => Type));
      const TemplateBody = JSON.stringify({ Resources: Object.fromEntries([...types].map(typed)) });
      await cloudFormation.send(new ValidateTemplateCommand({ TemplateBody })).catch((error: Error) => {
        refused[stack] = error.message;
      });
    }
    expect(refused).toEqual(refusals[variant]);
  },
);
