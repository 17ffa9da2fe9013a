import { Page } from "../components/page.tsx";

export const AccountAuditPage = () => <Page title="Audit log">This page is not built yet.</Page>;
