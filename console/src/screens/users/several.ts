/** So many requests at a time. */
const AT_ONCE = 5

/** The results for several users: those it succeeded for, and the error of the first that failed. */
export type Several<U> = { done: U[]; error: unknown }

/** Does the same for several users, a few at a time. One that fails does not stop the others. */
export async function forEach<U>(users: readonly U[], run: (user: U) => Promise<unknown>): Promise<Several<U>> {
  const done: U[] = []
  let error: unknown
  const waiting = [...users]
  const work = async () => {
    for (let user = waiting.shift(); user !== undefined; user = waiting.shift()) {
      try {
        await run(user)
        done.push(user)
      } catch (thrown) {
        error ??= thrown
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { done, error }
}
