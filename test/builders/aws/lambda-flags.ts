/** As Lambda starts Node. Source: AWS, "Building Lambda functions with Node.js". */
export const LAMBDA_FLAGS = ["--no-experimental-require-module", "--no-experimental-detect-module"] as const;
