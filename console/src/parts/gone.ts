type Option = { value: string; label: string }

/** Options with one for each chosen id that they lack: what was deleted or archived since, which the member can then remove. */
export const withGone = (options: Option[], chosen: readonly number[], label: (id: number) => string): Option[] => {
  const known = new Set(options.map(({ value }) => value))
  return [...options, ...[...new Set(chosen)].filter((id) => !known.has(String(id))).map((id) => ({ value: String(id), label: label(id) }))]
}
