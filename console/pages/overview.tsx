import { Page } from "../components/page.tsx";

export const OverviewPage = () => <Page title="Overview">This page is not built yet.</Page>;
