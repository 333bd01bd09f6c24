/** Resolves on the first SIGTERM or SIGINT; a second one ends the process at once, as nobody listens any more. */
export const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
