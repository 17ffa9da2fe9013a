import { Page } from "../components/page.tsx";

export const TodayPage = () => <Page title="Today">This page is not built yet.</Page>;
