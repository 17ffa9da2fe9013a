/** A file of the release: its name and SHA-256, in hexadecimal digits. */
export type Subject = { readonly name: string; readonly sha256: string };

/**
 * What the files were made from, as an in-toto statement with SLSA's predicate (https://slsa.dev/spec/v1.0/provenance).
 * It is not signed: the workflow Release has GitHub sign one of its own.
 */
export const provenance = (build: {
  readonly subjects: readonly Subject[];
  readonly version: string;
  readonly commit: string;
  readonly lockFile: Subject;
  readonly builder: string;
}) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: build.subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: "npm run release",
      externalParameters: { version: build.version },
      resolvedDependencies: [
        { uri: "git", digest: { gitCommit: build.commit } },
        { uri: build.lockFile.name, digest: { sha256: build.lockFile.sha256 } },
      ],
    },
    runDetails: { builder: { id: build.builder } },
  },
});
