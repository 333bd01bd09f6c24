/**
 * What is done elsewhere appears by itself. What could not be read at all is read again when the member says so, so that the error stays where
 * it is.
 */
export const readAgain = (everyMs: number) => ({
  refetchInterval: ({ state }: { state: { data: unknown; error: unknown } }) =>
    (state.data === undefined && state.error !== null ? false : everyMs) as number | false,
})
