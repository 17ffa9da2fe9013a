import { Page } from "../components/page.tsx";

export const DoctorPage = () => <Page title="Doctor">This page is not built yet.</Page>;
