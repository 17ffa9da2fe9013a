/** The sections of docs/runbook.md: console/runbook-sections.ts. */
declare module "virtual:runbook/sections" {
  export const sections: readonly {
    readonly title: string;
    readonly slug: string;
    readonly text: () => Promise<{ readonly default: string }>;
  }[];
}
