type Asked = (...args: never[]) => Promise<unknown>

/** These functions, with each call waiting until all earlier calls have ended. */
export function sequentially<F extends Record<string, Asked>>(functions: F): F {
  let before: Promise<unknown> = Promise.resolve()
  const after =
    (ask: Asked): Asked =>
    (...args) => {
      const result = before.then(() => ask(...args))
      before = result.catch(() => undefined)
      return result
    }
  return Object.fromEntries(Object.entries(functions).map(([name, ask]) => [name, after(ask)])) as F
}
