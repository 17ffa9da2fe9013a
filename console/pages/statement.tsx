import { Page } from "../components/page.tsx";

export const StatementPage = () => <Page title="Statement">This page is not built yet.</Page>;
