import { Page } from "../components/page.tsx";

export const KeysPage = () => <Page title="Keys">This page is not built yet.</Page>;
