/** How each command is called; `start` and `admin` have a help of their own. */
export const usage = {
  init: "airtime init [--yes] [--upstream-url VALUE] [--account VALUE] [--region VALUE] [--alarm-email VALUE]",
  synth: "npm run synth -- [--stage NAME] [OPTIONS OF CDK]",
  diff: "npm run diff -- --stage NAME [--profile NAME] [OPTIONS OF CDK]",
  deploy: "npm run deploy -- --stage NAME [--administrator] [--profile NAME] [OPTIONS OF CDK]",
  templates: "npm run templates -- --stage NAME --output FOLDER",
  destroy: "npm run destroy -- --stage NAME [--profile NAME] [OPTIONS OF CDK]",
  acceptance: "npm run acceptance -- --stage NAME --region REGION [--profile NAME] [--json] [--clean-up]",
  costs: "npm run costs -- [--json]",
} as const;

export const examples: Readonly<Record<keyof typeof usage, string>> = {
  init: "npx airtime init",
  synth: "npm run synth -- --stage prod",
  diff: "npm run diff -- --stage prod --profile airtime-prod",
  deploy: "npm run deploy -- --stage sandbox",
  templates: "npm run templates -- --stage prod --output ../templates",
  destroy: "npm run destroy -- --stage sandbox",
  acceptance: "npm run acceptance -- --stage trial1 --region eu-west-1",
  costs: "npm run costs -- --json",
};
