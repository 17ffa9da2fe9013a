import { Page } from "../components/page.tsx";

export const AccountsPage = () => <Page title="Accounts">This page is not built yet.</Page>;
