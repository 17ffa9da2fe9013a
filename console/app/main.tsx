import "../mantine.css";
import "../theme.css";
import { createRoot } from "react-dom/client";
import { startSession } from "../sign-in/sign-in.ts";
import { App } from "./app.tsx";
import { keepFocus } from "./keep-focus.ts";
import { SignInFailedPage } from "./sign-in-pages.tsx";
import { Theme } from "./theme.tsx";

const element = document.getElementById("root");
if (element === null) throw new Error("index.html has no element with the id root");
const root = createRoot(element);
keepFocus();

try {
  if (await startSession()) {
    root.render(
      <Theme>
        <App />
      </Theme>,
    );
  }
} catch (error) {
  root.render(
    <Theme>
      <SignInFailedPage error={error} />
    </Theme>,
  );
}
