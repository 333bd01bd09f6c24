const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** A table in Markdown. */
export const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

export const code = (text: string): string => `\`${text}\``
