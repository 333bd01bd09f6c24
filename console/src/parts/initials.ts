/** Up to two letters of a name, for a round mark. */
export const initialsOf = (name: string): string =>
  name
    .split(' ')
    .flatMap((word) => [...word].slice(0, 1))
    .slice(0, 2)
    .join('')
    .toUpperCase()
