import { Tags, Token } from "aws-cdk-lib";
import type { ICertificate } from "aws-cdk-lib/aws-certificatemanager";
import type { IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, assertHostName, type StageInput, settingsOf } from "../stage-settings.ts";
import { addStage } from "./stage.ts";

/** The settings of a stage (docs/deployment.md), in which constructs of the app take the place of ids and ARNs. */
export interface AirtimeServiceProps extends Omit<StageInput, "egress" | "domain" | "identityKeyArn"> {
  /** The prefix of the names on AWS, such as `prod`: operators' commands find the service by it. */
  readonly stage: string;
  /**
   * From where the upstream and apps' endpoints are called: as in `stages.ts`, or subnets of a VPC of the app. Those
   * route to the internet from `addresses`, and to DynamoDB through a gateway endpoint.
   */
  readonly egress:
    | StageInput["egress"]
    | {
        readonly kind: "vpc";
        readonly vpc: IVpc;
        /** Private subnets with egress, unless it selects others. */
        readonly subnets?: SubnetSelection;
        readonly addresses: readonly string[];
      };
  /** A host name in front of the API, with a certificate of the stage's region. */
  readonly domain?: { readonly name: string; readonly certificate: ICertificate; readonly isOnlyAddress?: boolean };
  /**
   * A multi-region HMAC key of KMS in the stage's account and region that hashes the numbers of identity checks; without
   * it the stage makes one. With `adopt` it is the key of the adopted ledger.
   */
  readonly identityKey?: IKey;
  /** Of every resource, besides `service`, `stage` and `cost-centre`. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** In the place of a VPC of the app while the settings are parsed; in no template. */
const PARSED_AS = { vpcId: "vpc-00000000", subnetIds: ["subnet-00000000"] };

/** The same for a key of the app, whose ARN CloudFormation knows. Of another place if the stage names none. */
const parsedKey = ({ account = ACCOUNT_PLACEHOLDER, region = "us-east-1" }: AirtimeServiceProps): string =>
  `arn:aws:kms:${region}:${account}:key/mrk-00000000`;

/**
 * The service inside a company's own CDK app: the stacks of one stage, named as `airtime deploy` names them. Throws a
 * SettingsError, with a sentence for each setting that is wrong.
 */
export class AirtimeService extends Construct {
  /** Base URL for callers, `/v1` included. */
  readonly apiUrl: string;
  /** Where the domain's DNS record points to; absent without a domain. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, props: AirtimeServiceProps) {
    super(scope, id);
    // Apps that `cdk init` makes have weak ones, with which a deployment may take away a table or a subnet that functions use.
    this.node.setContext("@aws-cdk/core:defaultCrossStackReferences", "strong");
    const { stage, egress, domain, identityKey, tags = {}, ...plain } = props;
    const own = egress.kind === "vpc" ? egress : undefined;
    // CloudFormation alone knows a name that is a parameter.
    if (domain && !Token.isUnresolved(domain.name)) assertHostName(domain.name);
    const input = {
      ...plain,
      egress: own ? { ...PARSED_AS, kind: "existing", addresses: own.addresses } : egress,
      ...(identityKey && { identityKeyArn: parsedKey(props) }),
    };
    const settings = {
      ...settingsOf(stage, { [stage]: input }),
      ...(domain && { domain: { isOnlyAddress: false, ...domain, certificateArn: domain.certificate.certificateArn } }),
      ...(identityKey && { identityKeyArn: identityKey.keyArn }),
    };
    for (const [name, value] of Object.entries(tags)) Tags.of(this).add(name, value);
    const { service } = addStage(this, stage, settings, { subnets: own });
    this.apiUrl = service.apiUrl;
    this.domainTarget = service.domainTarget;
  }
}
