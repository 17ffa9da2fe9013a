import { onlineManager, QueryClient } from "@tanstack/react-query";
import { ActionError } from "./action-error.ts";

const RETRIES = 2;
const RETRY_MS = 1_000;
const FRESH_MS = 10_000;

/** An answer below 500 would be the same again. */
const mayPass = (error: Error): boolean => error instanceof ActionError && (error.details.status ?? 500) >= 500;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a network a request fails and says so; the default waits silently.
      networkMode: "always",
      // By default not in that mode: what failed without a network would stay failed.
      refetchOnReconnect: true,
      staleTime: FRESH_MS,
      retry: (failures, error) => onlineManager.isOnline() && failures < RETRIES && mayPass(error),
      retryDelay: RETRY_MS,
    },
    // A change is never repeated by itself, and its answer may hold a secret, so it is not kept.
    mutations: { networkMode: "always", retry: false, gcTime: 0 },
  },
});
