/** The Markdown of the guides: headings, paragraphs, lists, tables, code blocks and links. Pictures are left out: the pages load none. */
import { type Content, Html, html } from '../lib/html.ts'
import { codeBlock, jsonCode, shellCode } from './code.ts'

export type Heading = { id: string; text: string }

/** Finds the page that a link leads to. */
export type Target = (link: string) => string | undefined

/** Renders a guide. The headings of the second level are its contents. */
export function guideMarkdown(text: string, target: Target): { body: Html; headings: Heading[] } {
  const headings: Heading[] = []
  const parts: Html[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; ) {
    const { html, length } = blockAt(lines.slice(at), target, headings)
    if (html) parts.push(html)
    at += length
  }
  return { body: html`${parts}`, headings }
}

type Block = { html?: Html; length: number }

function blockAt(lines: string[], target: Target, headings: Heading[]): Block {
  const [first = ''] = lines
  if (first.trim() === '' || isPicture(first)) return { length: 1 }
  if (first.startsWith('```')) return fence(lines)
  const [, marks, title] = /^(#{1,4}) (.*)$/.exec(first) ?? []
  if (marks && title !== undefined) return { html: heading(marks.length, title, target, headings), length: 1 }
  const end = lines.findIndex((line, index) => index > 0 && endsBlock(line))
  const own = end < 0 ? lines : lines.slice(0, end)
  return { html: textBlock(own, target), length: own.length }
}

function textBlock(lines: string[], target: Target): Html {
  const [first = ''] = lines
  if (first.startsWith('|')) return table(lines, target)
  return isItem(first) ? list(lines, target) : html`<p>${spans(lines.join('\n'), target)}</p>`
}

const isPicture = (line: string) => /^ *!\[[^\]]*\]\([^)]*\)$/.test(line)
const endsBlock = (line: string) => line.trim() === '' || isPicture(line) || line.startsWith('```') || /^#{1,4} /.test(line)

function fence(lines: string[]): Block {
  const end = lines.findIndex((line, index) => index > 0 && line.startsWith('```'))
  const language = lines[0]?.slice(3).trim() ?? ''
  const code = lines.slice(1, end).join('\n')
  return { html: codeBlock(NAMES[language] ?? 'Example', coloured(language, code)), length: end + 1 }
}

const NAMES: Record<string, string> = { sh: 'Shell', json: 'JSON', js: 'JavaScript', html: 'HTML', ts: 'TypeScript', py: 'Python' }

function coloured(language: string, code: string): Html {
  if (language === 'sh') return shellCode(code)
  return language === 'json' ? jsonCode(code) : html`${code}`
}

/** The id of a heading, as the links of the repository have it. */
const idOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

function heading(level: number, title: string, target: Target, headings: Heading[]): Html {
  const id = idOf(title)
  if (level === 2) headings.push({ id, text: title.replaceAll('`', '') })
  const text = spans(title, target)
  return level === 1
    ? html`<h1>${text}</h1>`
    : html`${new Html(`<h${level} id="${id}">`)}<a href="#${id}">${text}</a>${new Html(`</h${level}>`)}`
}

const ITEM = /^(?:-|\d+\.) /
const isItem = (line: string) => ITEM.test(line)

function list(lines: string[], target: Target): Html {
  const items: string[] = []
  for (const line of lines) {
    if (isItem(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`)
  }
  const written = items.map((item) => html`<li>${spans(item, target)}</li>`)
  const [, number] = /^(\d+)\./.exec(lines[0] ?? '') ?? []
  if (number === undefined) return html`<ul>${written}</ul>`
  // A code block between two steps ends the list.
  return html`<ol${number !== '1' && html` start="${number}"`}>${written}</ol>`
}

// A bar that is escaped, or inside code, does not end a cell.
const cellsOf = (line: string) =>
  line
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

function table([head = '', , ...rows]: string[], target: Target): Html {
  const cells = (line: string) => cellsOf(line).map((cell) => spans(cell, target))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr>${cells(head).map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`
}

const MARK = /``([^`](?:.|\n)*?)``|`([^`]+)`|\*\*((?:[^*]|\n)+)\*\*|\*(?!\s)([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\)/g

/** Inline text. A link to a file that is not served is its text. */
function spans(text: string, target: Target): Html {
  const parts: Content[] = []
  let from = 0
  for (const match of text.matchAll(MARK)) {
    const [whole, quoted, code = quoted, strong, emphasis, label, link] = match
    parts.push(text.slice(from, match.index))
    if (code !== undefined) parts.push(html`<code>${code.trim()}</code>`)
    else if (strong !== undefined) parts.push(html`<strong>${spans(strong, target)}</strong>`)
    else if (emphasis !== undefined) parts.push(html`<em>${spans(emphasis, target)}</em>`)
    else parts.push(linkTo(target(link ?? ''), spans(label ?? '', target)))
    from = match.index + whole.length
  }
  return html`${parts}${text.slice(from)}`
}

const linkTo = (href: string | undefined, label: Html): Html => (href === undefined ? label : html`<a href="${href}">${label}</a>`)
