/** Samples of code, coloured on the server. */
import { type Content, type Html, html } from '../lib/html.ts'

/** A block that one click selects as a whole, ready to be copied. */
export const codeBlock = (title: Content, code: Html): Html =>
  html`<figure class="sample"><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`

// A key, a string, a number or a word of JSON.
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d+(?:\.\d+)?\b|\b(?:true|false|null)\b/g

/** JSON in colours. */
export function jsonCode(value: unknown): Html {
  const text = JSON.stringify(value, null, 2)
  return coloured(text, TOKEN, ([whole, string, colon]) => {
    if (string === undefined) return html`<i class="v">${whole}</i>`
    return colon === undefined ? html`<i class="s">${string}</i>` : html`<i class="k">${string}</i>${colon}`
  })
}

const SHELL = /("(?:[^"\\]|\\.)*"|'[^']*')|(?<=^|\s)(--?[a-zA-Z][\w-]*)/g

/** A shell command in colours. */
export const shellCode = (command: string): Html =>
  coloured(command, SHELL, ([whole, string]) => (string === undefined ? html`<i class="o">${whole}</i>` : html`<i class="s">${string}</i>`))

function coloured(text: string, pattern: RegExp, colour: (match: RegExpMatchArray) => Html): Html {
  const parts: Content[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index), colour(match))
    from = match.index + match[0].length
  }
  return html`${parts}${text.slice(from)}`
}
