/** The subset of Markdown for descriptions: paragraphs, lists, `code`, **strong** and links within these pages. */
import { type Content, type Html, html } from '../lib/html.ts'

/** Paragraphs and lists, separated by empty lines. */
export const markdown = (text: string): Html => html`${text.split(/\n{2,}/).map(block)}`

function block(text: string): Html {
  const lines = text.split('\n')
  if (!lines.every((line) => line.startsWith('- '))) return html`<p>${inline(text)}</p>`
  return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
}

const MARK = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:#|\/(?!\/))[^)\s]*)\)/g

/** Inline text. A link to another site stays text. */
export function inline(text: string): Html {
  const parts: Content[] = []
  let from = 0
  for (const match of text.matchAll(MARK)) {
    const [whole, code, strong, label, target] = match
    parts.push(text.slice(from, match.index))
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (strong !== undefined) parts.push(html`<strong>${inline(strong)}</strong>`)
    else parts.push(html`<a href="${target}">${inline(label ?? '')}</a>`)
    from = match.index + whole.length
  }
  return html`${parts}${text.slice(from)}`
}
