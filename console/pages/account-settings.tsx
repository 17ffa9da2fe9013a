import { Page } from "../components/page.tsx";

export const AccountSettingsPage = () => <Page title="Settings">This page is not built yet.</Page>;
