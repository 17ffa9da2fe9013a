import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";

/** The four kinds of documentation of https://diataxis.fr, in the order of the site. */
export const pageKinds = ["tutorial", "how-to", "reference", "explanation"] as const;
type PageKind = (typeof pageKinds)[number];

export const kindTitles: { readonly [Kind in PageKind]: string } = {
  tutorial: "Tutorial",
  "how-to": "How-to guides",
  reference: "Reference",
  explanation: "Explanation",
};

/** Who reads a page, in the order of the site. Contributors change the service itself. */
export const readers = ["caller", "operator", "finance", "support", "deployer", "contributor"] as const;
export type Reader = (typeof readers)[number];

/** `callers`; those who do the work of a department have its name. */
export const nameOf = (reader: Reader): string =>
  reader === "finance" || reader === "support" ? reader : `${reader}s`;

export type Page = {
  /** The path of the Markdown file in this repository. */
  readonly file: string;
  readonly kind: PageKind;
  readonly reader: Reader;
  readonly answers: string;
};

const page = (kind: PageKind, reader: Reader, file: string, answers: string): Page => ({ file, kind, reader, answers });

/**
 * Every document but the decisions, which docs/decisions/README.md lists. The site's navigation, llms.txt and the table
 * of README.md are made from it; a document without an entry fails a test.
 */
export const pageList: readonly Page[] = [
  page("tutorial", "caller", "docs/tutorial.md", "how to build a shop that survives `kill -9`, in 15 minutes"),

  page("how-to", "caller", "client/README.md", "how to use the TypeScript client"),
  page("how-to", "caller", "clients/python/README.md", "how to use the Python client"),
  page("how-to", "caller", "clients/php/README.md", "how to use the PHP client, also with Laravel"),
  page("how-to", "caller", "clients/go/README.md", "how to use the Go client"),
  page("how-to", "caller", "clients/java/README.md", "how to use the Java client"),
  page("how-to", "caller", "docs/clients.md", "how to call the service from other languages"),
  page("how-to", "caller", "docs/webhooks.md", "how to receive webhooks"),
  page("how-to", "operator", "docs/onboarding.md", "how to give an app an account, keys, money and a webhook endpoint"),
  page("how-to", "operator", "docs/runbook.md", "what to do in each situation, with the commands"),
  page("how-to", "operator", "docs/recovery.md", "how to restore tables, and how to sell from another region"),
  page("how-to", "operator", "docs/console.md", "what owners and people with a role do in the web console"),
  page(
    "how-to",
    "operator",
    "docs/compliance.md",
    "what the Nigeria Data Protection Act asks, of the service and of you",
  ),
  page(
    "how-to",
    "finance",
    "docs/finance.md",
    "how to close a month, what its hash proves, and what orders cost and earn",
  ),
  page(
    "how-to",
    "support",
    "docs/support.md",
    "how to answer a customer who asks about an order, a check or their data",
  ),
  page("how-to", "deployer", "docs/deployment.md", "how to deploy and change a stage"),
  page("how-to", "deployer", "docs/pipeline.md", "how to deploy from GitHub"),
  page("how-to", "deployer", "docs/acceptance.md", "how to find out whether it works in your AWS account"),
  page("how-to", "deployer", "docs/upstream.md", "how to fit the service to your upstream"),
  page("how-to", "deployer", "docs/identity-providers.md", "how people sign in to the console with your provider"),
  page("how-to", "deployer", "docs/upgrading.md", "what to do before and after a new release is deployed"),
  page("how-to", "contributor", "CONTRIBUTING.md", "how to change the service"),

  page("reference", "caller", "docs/interface.md", "every rule of the interface, numbered"),
  page("reference", "caller", "docs/conformance.md", "how to test that a client of your own never buys twice"),
  page("reference", "caller", "client/CHANGELOG.md", "what changed in the client"),
  page("reference", "operator", "docs/operations.md", "what it logs, its alarms, and who may do what"),
  page(
    "reference",
    "operator",
    "docs/data-map.md",
    "what is stored, which of it is about people, and how long it is kept",
  ),
  page("reference", "finance", "docs/costs.md", "what a stage and its requests cost (`npm run costs`)"),
  page("reference", "deployer", "CHANGELOG.md", "what changed for callers, operators and deployers"),
  page("reference", "deployer", "SECURITY.md", "how to report a vulnerability, and which releases are supported"),
  page("reference", "deployer", "docs/asvs.md", "how OWASP's requirements are met"),
  page("reference", "contributor", "docs/glossary.md", "what the words mean, and their names in code"),
  page("reference", "contributor", "lab/README.md", "what is measured, and how long it takes"),

  page("explanation", "deployer", "README.md", "what the service is, and how to try it"),
  page("explanation", "deployer", "docs/should-you-use-this.md", "whether it fits your company, and what else to use"),
  page("explanation", "deployer", "docs/architecture.md", "where the code is, and how an order runs through it"),
  page("explanation", "deployer", "docs/reliability.md", "what is guaranteed under faults, and what is not"),
  page("explanation", "deployer", "docs/threat-model.md", "what could be attacked, and what stops it"),
  page("explanation", "deployer", "docs/performance.md", "times and costs beside other stacks (`npm run bench`)"),
  page("explanation", "deployer", "docs/scale.md", "which limit is reached first at which load (`npm run scale`)"),
  page("explanation", "contributor", "docs/testing.md", "how the guarantees are tested"),
  page("explanation", "contributor", "docs/decisions/README.md", "why it is built this way"),
];

/** Every decision, by its number. */
export const decisionFiles = (): readonly string[] => globSync("docs/decisions/0*.md", { cwd: projectRoot }).toSorted();

/** All Markdown files of the site. */
export const pageFiles = (): readonly string[] => [...pageList.map(({ file }) => file), ...decisionFiles()];

/** The first heading of a document. */
export const titleOf = (file: string): string =>
  /^# (.+)$/m.exec(readFileSync(join(projectRoot, file), "utf8"))?.[1] ?? file;
