import type { Stack } from "@aws-sdk/client-cloudformation";
import { stackName } from "../../infra/outputs.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { type StageSettings, sells } from "../../infra/stage-settings.ts";
import { assertDynamoDbEndpoint } from "./dynamodb-endpoint.ts";
import { assertReservable } from "./reserved-concurrency.ts";
import { dataPolicy, deployedStack, existingStack, failedCreation, ownExports, setStackPolicy } from "./stacks.ts";

/** Runs a command of the CDK with these arguments, for the stage; resolves with the exit code. */
export type StageCdk = (...args: readonly string[]) => Promise<number>;

/** A stack's name, and its region if that is not the stage's. */
type Place = readonly [name: string, region?: string];

/**
 * Deploys the stacks of a stage in an order that CloudFormation accepts, except the administrator's: the service, and what
 * it needs.
 */
export const deployStage = async (stage: string, settings: StageSettings, cdk: StageCdk): Promise<number> => {
  const { egress } = settings;
  const [data, network, service] = [stackName(stage, "Data"), stackName(stage, "Network"), stackName(stage, "Service")];
  const [deployedData, deployedNetwork, deployedService] = await Promise.all(
    [data, network, service].map((name) => deployedStack(name)),
  );
  const ownNetwork = egress.kind === "nat-gateway" ? [network] : [];
  await assertCreatable([[data], ...ownNetwork.map((name) => [name] as const), ...recoveryOf(stage, settings)]);
  await assertReservable(stage, settings);
  await assertDynamoDbEndpoint(stage, settings);
  if (sells(settings)) assertAdopted(stage, settings, deployedData);
  assertReleasable(stage, settings, { data: deployedData, service: deployedService });
  // The first change: whatever is refused, is refused above.
  if (sells(settings)) await protectData(data, settings);
  const shrinking = [
    ...(isGivenUp(settings, deployedData) ? [data] : []),
    ...(egress.kind === "nat-gateway" && egress.zones.length < ownExports(deployedNetwork, "egress") ? [network] : []),
  ];
  if (shrinking.length > 0) {
    // CloudFormation does not take away what another stack imports.
    console.log(`${service} leaves what ${shrinking.join(" and ")} gives up, and is deployed first.`);
    const others = [data, ...ownNetwork].filter((name) => !shrinking.includes(name));
    const code = await cdk("deploy", ...others, service, "--exclusively");
    if (code !== 0) return code;
  }
  const code = await cdk("deploy", service);
  if (sells(settings)) await protectData(data, settings);
  if (code === 0 && egress.kind !== "nat-gateway" && deployedNetwork) printUnusedNetwork(stage);
  return code;
};

const printUnusedNetwork = (stage: string): void => {
  const [network, service] = [stackName(stage, "Network"), stackName(stage, "Service")];
  console.log(
    `Not deleted: ${network}, which ${service} no longer uses and which still costs. Lambda gives its network interfaces back within the hour; then run ${deletion(network)}. See docs/deployment.md, "Change the egress".`,
  );
};

/** Deploys what people may do on a stage, and nothing else. */
export const deployAdministrator: typeof deployStage = async (stage, _settings, cdk) => {
  const administrator = stackName(stage, "Administrator");
  await assertCreatable([[administrator]]);
  return cdk("deploy", administrator, "--exclusively");
};

/** The CDK protects a stack before it makes it, and then fails to delete what a failed creation has left. */
const assertCreatable = async (places: readonly Place[]): Promise<void> => {
  const failed = await Promise.all(places.map(([name, region]) => failedCreation(name, region)));
  const guarded = places.filter((_, index) => failed[index]?.EnableTerminationProtection);
  if (guarded.length === 0) return;
  throw new SettingsError(
    `The creation of ${namesOf(guarded)} failed, and what is left is protected from deletion, so that it cannot be made again. Run first: ${unprotections(guarded)}. Nothing was changed.`,
  );
};

/**
 * An older commit, or another branch, may lack a setting that was made in a restore: the stage would begin with an empty ledger,
 * or with a key that knows none of its hashes.
 */
const assertAdopted = (stage: string, settings: StageSettings, data: Stack | undefined): void => {
  if (data === undefined) return;
  const lost = (["adopt", "identityKeyArn"] as const).filter(
    (name) => settings[name] === undefined && ownExports(data, name) === 0,
  );
  if (lost.length === 0) return;
  throw new SettingsError(
    `Stage "${stage}" was deployed with ${lost.join(" and ")}, which stages.ts lacks: it would begin with another ledger or identity key. Use the settings that are deployed. Nothing was changed.`,
  );
};

/** Whether the data have tables or a key of their own, in the place of which these settings name others. */
const isReplaced = (settings: StageSettings, data: Stack | undefined): boolean =>
  (["adopt", "identityKeyArn"] as const).some((name) => settings[name] !== undefined && ownExports(data, name) > 0);

/** The same, or whether they have a copy of the audit log that these settings end. */
const isGivenUp = (settings: StageSettings, data: Stack | undefined): boolean =>
  isReplaced(settings, data) || (settings.auditCopy === undefined && ownExports(data, "auditCopy") > 0);

/**
 * The roles change before a canary begins, so that the version before would have no permission on its own tables and keys.
 * Lambda also refuses to make a version of a function that gets a name in the place of a reference to the same thing.
 */
const assertReleasable = (
  stage: string,
  settings: StageSettings,
  { data, service }: { readonly data: Stack | undefined; readonly service: Stack | undefined },
): void => {
  if (settings.release.kind !== "canary" || service === undefined) return;
  const { ledgerStreamArn: _, auditStreamArn: __, ...adopted } = settings.adopt ?? {};
  const used = new Set((service.Outputs ?? []).map(({ OutputValue }) => OutputValue));
  const isOther = [...Object.values(adopted), settings.identityKeyArn].some(
    (name) => name !== undefined && !used.has(name),
  );
  if (!isOther && !isReplaced(settings, data)) return;
  throw new SettingsError(
    `Stage "${stage}" names tables or keys (adopt, identityKeyArn) that it does not use yet, and a canary would go on invoking versions without permission on those that they use: set release: { kind: "all-at-once" } for this deployment, and the canary again in the next one. Nothing was changed.`,
  );
};

const recoveryOf = (stage: string, { recovery }: StageSettings): readonly Place[] =>
  recovery ? [[stackName(stage, "Recovery"), recovery.region]] : [];

/** Before a deployment, so that it cannot replace a table; after it, for a stack that it made. */
const protectData = async (data: string, settings: StageSettings): Promise<void> => {
  if ((await deployedStack(data)) !== undefined) await setStackPolicy(data, dataPolicy(settings));
};

const deletion = (stack: string): string =>
  `${unprotection(stack)} && aws cloudformation delete-stack --stack-name ${stack}`;

const unprotection = (stack: string, region?: string): string =>
  `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack}${region === undefined ? "" : ` --region ${region}`}`;

const namesOf = (places: readonly Place[]): string => places.map(([name]) => name).join(" and ");

const unprotections = (places: readonly Place[]): string =>
  places.map(([name, region]) => unprotection(name, region)).join(" && ");

/** Deletes all stacks of a stage. Refuses if one is protected: the others would be gone already. */
export const destroyStage = async (stage: string, settings: StageSettings, cdk: StageCdk): Promise<number> => {
  const { egress, recovery } = settings;
  const places: readonly Place[] = [
    [stackName(stage, "Data")],
    [stackName(stage, "Network")],
    [stackName(stage, "Administrator")],
    ...recoveryOf(stage, settings),
  ];
  const stacks = await Promise.all(places.map(([name, region]) => existingStack(name, region)));
  const guarded = places.filter((_, index) => stacks[index]?.EnableTerminationProtection);
  if (guarded.length > 0) {
    throw new SettingsError(
      `${namesOf(guarded)} must not be deleted by mistake. If you mean it, run first: ${unprotections(guarded)}`,
    );
  }
  const code = await cdk("destroy", "--all");
  if (code === 0) {
    const kept = sells(settings) ? ", the identity key, the bucket of the trail of direct access" : "";
    const copies = settings.auditCopy ? ", the bucket of auditCopy" : "";
    const addresses = egress.kind === "nat-gateway" ? ", and the elastic IPs" : "";
    const vaults = recovery ? ", and the backup vaults of both regions" : "";
    console.log(
      `Not deleted: the access, ledger and audit tables, the reference, checksum and webhook keys${kept}${copies}${addresses}${vaults}. See docs/deployment.md, "Tear down".`,
    );
    // The app of a stage that left its network has no such stack.
    if (egress.kind !== "nat-gateway" && stacks[1]) printUnusedNetwork(stage);
  }
  return code;
};
