import { Page } from "../components/page.tsx";

export const DeadLettersPage = () => <Page title="Messages given up">This page is not built yet.</Page>;
