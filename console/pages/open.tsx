import { Page } from "../components/page.tsx";

export const OpenPage = () => <Page title="Open orders">This page is not built yet.</Page>;
