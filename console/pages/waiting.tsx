import { Page } from "../components/page.tsx";

export const WaitingPage = () => <Page title="Waiting orders">This page is not built yet.</Page>;
