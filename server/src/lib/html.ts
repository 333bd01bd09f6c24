/** HTML in which every value is escaped, unless it is `Html` already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[]

/** Builds HTML: `html\`<p>${text}</p>\``. False, null and undefined add nothing; arrays are joined. */
export const html = (strings: TemplateStringsArray, ...values: Content[]): Html =>
  new Html(strings.map((text, index) => text + (index < values.length ? write(values[index]) : '')).join(''))

function write(content: Content): string {
  if (content === false || content === null || content === undefined) return ''
  if (content instanceof Html) return content.text
  if (Array.isArray(content)) return content.map(write).join('')
  return escaped(String(content))
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
