/** What a record has under a name that an author chose; undefined for names of members that all objects have, such as `constructor`. */
export const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
