const ANSWER_MS_MAX = 10_000;

/** Why a page failed: its file cannot be loaded for one of three reasons, or its code threw. */
export type PageFailure = keyof typeof pageFailureTexts;

/** What the person does about it. */
export const pageFailureTexts = {
  offline: "Without a network this page cannot be loaded. Reload it once the network is back.",
  unreachable: "The service cannot be reached. Check your network, and reload the page in a moment.",
  new_version: "A new version of the console was deployed. Reload the page.",
  fault: "Reload the page. If it fails again, report it to the operators of the service.",
} as const;

/** Asks the service for the console's first file: another script in it than the one that runs is a new version. */
export const findPageFailure = async (): Promise<PageFailure> => {
  if (!navigator.onLine) return "offline";
  try {
    const response = await fetch("/console", { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    if (!response.ok) return "unreachable";
    const running = document.querySelector<HTMLScriptElement>('script[type="module"]')?.src ?? "";
    return (await response.text()).includes(new URL(running).pathname) ? "fault" : "new_version";
  } catch {
    return "unreachable";
  }
};
