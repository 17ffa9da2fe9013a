import { Notice } from "./notice.tsx";

/** A notice above what test keys made: it must not be taken for live data. */
export const TestData = () => (
  <Notice tone="attention" title="Test data">
    Made with test keys: nothing was charged, delivered or checked, and no amount here counts.
  </Notice>
);
