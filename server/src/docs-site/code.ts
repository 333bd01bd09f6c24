/** Code samples, highlighted on the server. */
import { type Content, type Html, html } from '../lib/html.ts'
import { type Call, curlOf, pythonOf, typescriptOf } from './samples.ts'

/** A block of code with a caption. One click selects all of it. */
export const codeBlock = (title: Content, code: Html): Html =>
  html`<figure class="sample"><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`

// A key, a string, a number or a literal of JSON.
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d+(?:\.\d+)?\b|\b(?:true|false|null)\b/g

/** Highlighted JSON. */
export function jsonCode(text: string): Html {
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

const PROGRAM = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|\b(const|await|new|import|print)\b/g

/** A highlighted program. */
const programCode = (text: string): Html =>
  highlighted(text, PROGRAM, ([whole, string]) =>
    string === undefined ? html`<i class="o">${whole}</i>` : html`<i class="s">${string}</i>`,
  )

export const LANGUAGES = { curl: 'curl', ts: 'TypeScript', py: 'Python' } as const

/** A request in every language. The choice at the top of the page shows one of them, without a script. */
export const requestBlock = (call: Call): Html => {
  const code = { curl: shellCode(curlOf(call)), ts: programCode(typescriptOf(call)), py: programCode(pythonOf(call)) }
  const tabs = Object.entries(LANGUAGES).map(([id, name]) => html`<label for="lang-${id}" data-lang="${id}">${name}</label>`)
  const blocks = Object.entries(code).map(([id, written]) => html`<pre tabindex="0" data-lang="${id}"><code>${written}</code></pre>`)
  return html`<figure class="sample request"><figcaption>${tabs}</figcaption>${blocks}</figure>`
}

function highlighted(text: string, pattern: RegExp, highlight: (match: RegExpMatchArray) => Html): Html {
  const parts: Content[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index), highlight(match))
    from = match.index + match[0].length
  }
  return html`${parts}${text.slice(from)}`
}
