/** Code samples, highlighted on the server. */
import { type Content, type Html, html } from '../lib/html.ts'

/** A block of code with a caption. One click selects all of it. */
export const codeBlock = (title: Content, code: Html): Html =>
  html`<figure class="sample"><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`

// A key, a string, a number or a literal of JSON.
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d+(?:\.\d+)?\b|\b(?:true|false|null)\b/g

/** Highlighted JSON. */
export function jsonCode(value: unknown): Html {
  const text = JSON.stringify(value, null, 2)
  return highlighted(text, TOKEN, ([whole, string, colon]) => {
    if (string === undefined) return html`<i class="v">${whole}</i>`
    return colon === undefined ? html`<i class="s">${string}</i>` : html`<i class="k">${string}</i>${colon}`
  })
}

const SHELL = /("(?:[^"\\]|\\.)*"|'[^']*')|(?<=^|\s)(--?[a-zA-Z][\w-]*)/g

/** A highlighted shell command. */
export const shellCode = (command: string): Html =>
  highlighted(command, SHELL, ([whole, string]) =>
    string === undefined ? html`<i class="o">${whole}</i>` : html`<i class="s">${string}</i>`,
  )

function highlighted(text: string, pattern: RegExp, highlight: (match: RegExpMatchArray) => Html): Html {
  const parts: Content[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index), highlight(match))
    from = match.index + match[0].length
  }
  return html`${parts}${text.slice(from)}`
}
