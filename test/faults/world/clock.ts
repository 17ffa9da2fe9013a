/**
 * The time of everything in this process: ours, and that of the SQS emulator which runs in it. It runs as always, and a test can
 * make it jump: a queue's message becomes visible, a key's minute is over, a check was abandoned.
 */
const realNow = Date.now.bind(Date);
let ahead_ms = 0;
Date.now = () => realNow() + ahead_ms;

export const jump = (by_ms: number): void => {
  ahead_ms += by_ms;
};
