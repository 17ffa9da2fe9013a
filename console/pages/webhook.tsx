import { Page } from "../components/page.tsx";

export const WebhookPage = () => <Page title="Webhook">This page is not built yet.</Page>;
