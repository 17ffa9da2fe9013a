import { Status } from "./status.tsx";

const texts = { active: "Active", restricted: "Restricted", closed: "Closed" } as const;

/** The requests of an account that is not active are refused. */
export const AccountStatus = ({ status }: { readonly status: keyof typeof texts }) => (
  <Status tone={status === "active" ? "good" : "bad"}>{texts[status]}</Status>
);
