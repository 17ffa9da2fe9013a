import type { Network } from "../../../shared/contract/catalog.ts";

const kinds = [
  { value: "data", label: "All data" },
  { value: "airtime", label: "All airtime" },
  { value: "identity", label: "All identity checks" },
];

/** What may be switched off by itself. `networks`: those of the catalog, undefined while it is unknown. */
export const partField = (networks: readonly Network[] | undefined) =>
  ({
    kind: "choice",
    label: "Network or kind",
    mustChoose: true,
    options: [...(networks ?? []).map(({ code, name }) => ({ value: code, label: name })), ...kinds],
    ...(networks === undefined && {
      description:
        "Networks are missing, because the catalog is not loaded. Reload the page, or use the command purchases off.",
    }),
  }) as const;
