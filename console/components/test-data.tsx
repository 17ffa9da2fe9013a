import { Notice } from "./notice.tsx";

/** Above what test keys made, which nobody may take for live. */
export const TestData = () => (
  <Notice tone="attention" title="Test data">
    Made with test keys: nothing was charged, delivered or checked, and no amount here counts.
  </Notice>
);
