import type { Adapter, AdapterPayload } from "oidc-provider";

type Entry = { readonly payload: AdapterPayload; readonly endsAtMs: number };

/** The store of the local identity provider: its codes and sessions end with the process. */
export const memoryAdapter = (): ((model: string) => Adapter) => {
  const models = new Map<string, Map<string, Entry>>();
  return (model) => {
    const entries = models.get(model) ?? new Map<string, Entry>();
    models.set(model, entries);
    const find = async (id: string): Promise<AdapterPayload | undefined> => {
      const entry = entries.get(id);
      return entry !== undefined && entry.endsAtMs > Date.now() ? entry.payload : undefined;
    };
    const findBy = async (isIt: (payload: AdapterPayload) => boolean): Promise<AdapterPayload | undefined> => {
      for (const [id, { payload }] of entries) if (isIt(payload)) return find(id);
      return undefined;
    };
    return {
      upsert: async (id, payload, expiresInS = Number.POSITIVE_INFINITY) => {
        entries.set(id, { payload, endsAtMs: Date.now() + expiresInS * 1_000 });
      },
      find,
      findByUid: (uid) => findBy((payload) => payload.uid === uid),
      findByUserCode: (userCode) => findBy((payload) => payload.userCode === userCode),
      consume: async (id) => {
        const payload = await find(id);
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id) => {
        entries.delete(id);
      },
      revokeByGrantId: async (grantId) => {
        for (const stored of models.values()) {
          for (const [id, { payload }] of stored) if (payload.grantId === grantId) stored.delete(id);
        }
      },
    };
  };
};
