import { withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { defineComponent, h, onMounted, ref } from "vue";
import "./wide-tables.css";

type Mermaid = {
  readonly initialize: (options: { readonly startOnLoad: boolean; readonly theme: string }) => void;
  readonly render: (id: string, source: string) => Promise<{ readonly svg: string }>;
};

let loading: Promise<Mermaid> | undefined;

/** Mermaid is a script of its own, which pages without a diagram do not load. */
const loadMermaid = (): Promise<Mermaid> => {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = withBase("/mermaid.js");
    script.onload = () => resolve((globalThis as unknown as { mermaid: Mermaid }).mermaid);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
};

let diagrams = 0;

/** A diagram. Until it is drawn, and without JavaScript, its source is shown. */
const Diagram = defineComponent({
  props: { source: { type: String, required: true } },
  setup: ({ source }) => {
    const text = decodeURIComponent(source);
    const svg = ref("");
    onMounted(async () => {
      const mermaid = await loadMermaid();
      const isDark = document.documentElement.classList.contains("dark");
      mermaid.initialize({ startOnLoad: false, theme: isDark ? "dark" : "neutral" });
      svg.value = (await mermaid.render(`diagram-${++diagrams}`, text)).svg;
    });
    return () => (svg.value === "" ? h("pre", text) : h("div", { class: "diagram", innerHTML: svg.value }));
  },
});

// biome-ignore lint/style/noDefaultExport: VitePress reads its theme from the default export.
export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { app: { component: (name: string, component: typeof Diagram) => void } }) =>
    app.component("Diagram", Diagram),
};
