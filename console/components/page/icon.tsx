const paths = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  warning: "M12 3.5L2.5 20.5h19zM12 10v5M12 17.5v.5",
  clock: "M12 3a9 9 0 1 0 .01 0M12 7v5.5l3.5 2",
  dot: "M12 11a1 1 0 1 0 .01 0",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  menu: "M4 6.5h16M4 12h16M4 17.5h16",
  sun: "M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  chevron: "M9 6l6 6-6 6",
  search: "M11 4a7 7 0 1 0 .01 0M16.2 16.2L21 21",
} as const;

export type IconName = keyof typeof paths;

/** A picture beside a text that says the same. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={2.25}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
);
