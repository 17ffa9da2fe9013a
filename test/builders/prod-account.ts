import { stages } from "../../stages.ts";

// To be imported: the stage prod as an operator has it, with an account in the place of the placeholder and a profile.
Object.assign(stages.prod ?? {}, {
  account: "123456789012",
  region: "us-east-1",
  upstreamProfile: { reference: "documented" },
});
