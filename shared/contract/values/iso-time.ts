/** As times are stored and sent: `2026-11-21T09:30:00.000Z`. */
export const isoTime = (atMs: number): string => new Date(atMs).toISOString();
