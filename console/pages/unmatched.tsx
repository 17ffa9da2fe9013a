import { Page } from "../components/page.tsx";

export const UnmatchedPage = () => <Page title="Unmatched events">This page is not built yet.</Page>;
