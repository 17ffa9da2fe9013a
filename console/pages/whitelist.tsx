import { Page } from "../components/page.tsx";

export const WhitelistPage = () => <Page title="Whitelist">This page is not built yet.</Page>;
