import { Page } from "../components/page.tsx";

export const CatalogPage = () => <Page title="Catalog">This page is not built yet.</Page>;
