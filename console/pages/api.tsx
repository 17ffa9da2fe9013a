import { Page } from "../components/page.tsx";

export const ApiPage = () => <Page title="API">This page is not built yet.</Page>;
