import { Page } from "../components/page.tsx";

export const TransactionsPage = () => <Page title="Transactions">This page is not built yet.</Page>;
