/** What a repository's stages.ts imports: light, because each command reads that file. The construct is in cdk.ts. */
export { defineStages, type Stages } from "./stage-settings.ts";
