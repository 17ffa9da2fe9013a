import { Page } from "../components/page.tsx";

export const ChartsPage = () => <Page title="Charts">This page is not built yet.</Page>;
