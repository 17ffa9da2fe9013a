import { Status } from "./status.tsx";

/** A restricted account's requests are refused. */
export const AccountStatus = ({ status }: { readonly status: "active" | "restricted" }) => (
  <Status tone={status === "active" ? "good" : "bad"}>{status === "active" ? "Active" : "Restricted"}</Status>
);
