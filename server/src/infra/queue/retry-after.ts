export const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 15_000

/** The wait after so many failures in a row. */
export const retryAfterMs = (failures: number): number => Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures)
