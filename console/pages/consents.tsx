import { Page } from "../components/page.tsx";

export const ConsentsPage = () => <Page title="Consents">This page is not built yet.</Page>;
