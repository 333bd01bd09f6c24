/** For `vi.waitFor`, of what happens soon: it may take this long on a busy machine. */
export const SOON = { timeout: 20_000 }
