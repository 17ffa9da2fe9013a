import { Page } from "../components/page.tsx";

export const UpstreamPage = () => <Page title="Upstream">This page is not built yet.</Page>;
