import { type ComponentType, lazy } from 'react'

const AGAIN_MS = 1000
/** As long as a restart of the server may take. */
const TRIES = 60

/**
 * A part whose code is loaded when it is first drawn, again and again while the server is away, so that what is typed around it stays. `name` is
 * what the module calls it.
 */
// biome-ignore lint/suspicious/noExplicitAny: the properties are those of the part that is given.
export const lazyPart = <N extends string, C extends ComponentType<any>>(load: () => Promise<Record<N, C>>, name: N) =>
  lazy(async () => ({ default: (await loaded(load))[name] }))

async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const url = error instanceof Error && /https?:\S+/.exec(error.message)?.[0]
    if (!url) throw error
    for (let tries = 1; tries <= TRIES; tries++) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      // Browsers keep that the code at an address was not found, so each time the address is another one.
      const found = await import(/* @vite-ignore */ `${url}?${tries}`).catch(() => undefined)
      if (found) return found
    }
    throw error
  }
}
