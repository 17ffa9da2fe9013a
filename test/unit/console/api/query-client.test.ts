import { onlineManager, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { queryClient } from "../../../../console/api/query-client.ts";

test("what could not be read without a network is read again once the network is back", async () => {
  queryClient.mount();
  const read = new QueryObserver(queryClient, {
    queryKey: ["wallet show"],
    queryFn: () => (onlineManager.isOnline() ? Promise.resolve("read") : Promise.reject(new Error("offline"))),
  });
  onlineManager.setOnline(false);
  const failed = Promise.withResolvers<void>();
  const shown = Promise.withResolvers<string>();
  const unsubscribe = read.subscribe(({ isError, data }) => {
    if (isError) failed.resolve();
    if (data !== undefined) shown.resolve(data);
  });
  await failed.promise;
  onlineManager.setOnline(true);
  expect(await shown.promise).toBe("read");
  unsubscribe();
  queryClient.unmount();
});
