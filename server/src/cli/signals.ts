/** Resolves on the first SIGTERM or SIGINT. A second one ends the process at once, because its handler is gone. */
export const waitForSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
