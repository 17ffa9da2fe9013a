import { Page } from "../components/page.tsx";

export const TransactionPage = () => <Page title="Transaction">This page is not built yet.</Page>;
