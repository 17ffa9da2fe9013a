import { createTheme, MantineProvider, NativeSelect } from "@mantine/core";
import type { ReactNode } from "react";

const theme = createTheme({
  autoContrast: true,
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  // Screen readers would say that there is a picture without a name.
  components: { NativeSelect: NativeSelect.extend({ defaultProps: { rightSectionProps: { "aria-hidden": true } } }) },
});

/** Mantine without its style tags, which the content security policy forbids: main.tsx imports the same as files. */
export const Theme = ({ children }: { readonly children: ReactNode }) => (
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
    {children}
  </MantineProvider>
);
