/**
 * Reads tag soup in one pass over the text, so that no input takes more than its length. Of MJML and HTML alike.
 */

export type Tag = { kind: 'tag'; name: string; isEnd: boolean; isClosed: boolean; attributes: string; begin: number; end: number }
export type Words = { kind: 'text'; text: string; begin: number; end: number }
type Comment = { kind: 'comment'; text: string; begin: number; end: number }
export type Token = Tag | Words | Comment

/** Texts, comments and tags in order. An unfinished comment or tag hides the rest, as it does in a mail program. */
export function* htmlTokens(markup: string): Generator<Token> {
  let at = 0
  while (at < markup.length) {
    const open = nextTag(markup, at)
    if (open > at) yield { kind: 'text', text: markup.slice(at, open), begin: at, end: open }
    if (open === markup.length) return
    const token = markup.startsWith('<!--', open) ? commentAt(markup, open) : tagAt(markup, open)
    yield token
    at = token.end
  }
}

function commentAt(markup: string, open: number): Comment {
  const close = markup.indexOf('-->', open + 4)
  const end = close === -1 ? markup.length : close + 3
  return { kind: 'comment', text: markup.slice(open, end), begin: open, end }
}

const TAG = /^<(\/?)([a-z][a-z0-9:-]*)([\s\S]*)$/i

// A declaration such as the doctype says as little as a comment.
function tagAt(markup: string, open: number): Token {
  const close = endOfTag(markup, open)
  const end = Math.min(close + 1, markup.length)
  const tag = TAG.exec(markup.slice(open, close))
  if (!tag) return { kind: 'comment', text: markup.slice(open, end), begin: open, end }
  const attributes = tag[3] as string
  return {
    kind: 'tag',
    isEnd: tag[1] === '/',
    isClosed: attributes.endsWith('/'),
    name: (tag[2] as string).toLowerCase(),
    attributes,
    begin: open,
    end,
  }
}

// A `<` that begins no tag is a character like any other.
function nextTag(markup: string, from: number): number {
  for (let at = markup.indexOf('<', from); at !== -1; at = markup.indexOf('<', at + 1)) {
    if (/[a-z/!?]/i.test(markup[at + 1] ?? '')) return at
  }
  return markup.length
}

/** Where the `>` of a tag is; one inside quotes does not end it. */
function endOfTag(markup: string, from: number): number {
  let quote = ''
  for (let at = from; at < markup.length; at++) {
    const character = markup[at] as string
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '>') return at
    else if ((character === '"' || character === "'") && markup[at - 1] === '=') quote = character
  }
  return markup.length
}

/** The value of an attribute as it is written, or undefined when the tag does not have it. */
export function attributeOf({ attributes }: Pick<Tag, 'attributes'>, name: string): string | undefined {
  const found = new RegExp(`\\s${name}(?:\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+)))?(?=[\\s/>]|$)`, 'i').exec(attributes)
  return found ? (found[1] ?? found[2] ?? found[3] ?? '') : undefined
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00A0',
  shy: '',
  zwnj: '',
  zwj: '',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  deg: '°',
  times: '×',
  rarr: '→',
  larr: '←',
}

/** Character references; one we do not know stays as it is. */
export function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? ENTITIES[name.toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole
  })
}
