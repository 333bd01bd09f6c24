/**
 * Reads HTML as browsers do, by the tokeniser of parse5, and says where everything is in the text. It reads masked text, so that
 * Liquid may be anywhere. MJML is read in the same way.
 */
import { Tokenizer, TokenizerMode } from 'parse5'
import type { MaskedText } from './liquid-mask.ts'

/** Positions are those of the masked text; `MaskedText` maps them to the source. */
type Range = { begin: number; end: number }

/** The value is decoded; as it is written it is the text between `valueBegin` and `valueEnd`, without quotes. */
export type HtmlAttribute = Range & { name: string; value: string; valueBegin: number; valueEnd: number; quote: '"' | "'" | '' }

export type HtmlTag = Range & { kind: 'tag'; name: string; isEnd: boolean; isSelfClosing: boolean; attributes: HtmlAttribute[] }
export type HtmlText = Range & { kind: 'text' }
/** A comment, a declaration or a processing instruction. */
type HtmlComment = Range & { kind: 'comment' }
export type HtmlToken = HtmlTag | HtmlText | HtmlComment

/** `readsConditions`: the content of conditional comments is markup, as it is to Outlook, and not a comment. */
type Options = { readsConditions?: boolean }

/** Elements whose content is text, and how that text is read. */
const TEXT_ELEMENTS: ReadonlyMap<string, Tokenizer['state']> = new Map([
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
])

// Bounded, so that many that are never closed do not each cost the rest of the text.
const CONDITION = /<!--\[if\b[^\]>]{0,200}\]>/gi

/** The tokens of masked HTML in order. A tag that the text ends within is left out, as browsers do. */
export function readHtml(
  { text, placeholder }: Pick<MaskedText, 'text' | 'placeholder'>,
  { readsConditions = false }: Options = {},
): HtmlToken[] {
  const tokens: HtmlToken[] = []
  const leading = new RegExp(`^(?:${placeholder.source})+`)
  let read = 0
  const textUntil = (begin: number) => {
    if (begin > read) tokens.push({ kind: 'text', begin: read, end: begin })
  }
  const push = (token: HtmlToken) => {
    textUntil(token.begin)
    tokens.push(token)
    read = token.end
  }
  const pushComment = ({ location }: Located) => push({ kind: 'comment', ...rangeOf(location, text) })
  const pushTag = ({ location, tagName, selfClosing }: Located & { tagName: string; selfClosing: boolean }, isEnd: boolean) => {
    const name = beforePlaceholder(tagName, placeholder)
    const attributes = tokenizer.takeAttributes().flatMap((attribute) => attributeOf(attribute, text, leading))
    push({ kind: 'tag', name, isEnd, isSelfClosing: selfClosing, attributes, ...rangeOf(location, text) })
    return name
  }
  const tokenizer = new OffsetTokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(tag) {
        const name = pushTag(tag, false)
        tokenizer.lastStartTagName = name
        tokenizer.state = TEXT_ELEMENTS.get(name) ?? tokenizer.state
      },
      onEndTag: (tag) => void pushTag(tag, true),
      onComment: pushComment,
      onDoctype: pushComment,
      onEof: () => textUntil(tokenizer.unfinishedTag() ?? text.length),
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onParseError: null,
    },
  )
  tokenizer.write(readsConditions ? text.replace(CONDITION, (condition) => ' '.repeat(condition.length)) : text, true)
  return tokens
}

const ignore = () => undefined

type Located = { location: { startOffset: number; endOffset: number } | null }

const rangeOf = (location: Located['location'], text: string): Range => ({
  begin: location?.startOffset ?? 0,
  end: Math.min(location?.endOffset ?? text.length, text.length),
})

/** Liquid ends the name of a tag: what it turns into begins with a space. */
function beforePlaceholder(name: string, placeholder: RegExp): string {
  const at = name.search(placeholder)
  return at === -1 ? name : name.slice(0, at)
}

type RawAttribute = Range & { attribute: { name: string; value: string }; nameEnd: number }

/** An attribute without the Liquid in front of it; none when there is nothing else. */
function attributeOf({ attribute, begin, nameEnd, end }: RawAttribute, text: string, leading: RegExp): HtmlAttribute[] {
  const liquid = leading.exec(attribute.name)?.[0].length ?? 0
  const name = attribute.name.slice(liquid)
  if (name === '') return []
  const own = { name, value: attribute.value, begin: begin + liquid }
  const sign = pastSpace(text, nameEnd)
  const open = pastSpace(text, sign + 1)
  // An `=` without a value is followed by the end of the tag.
  if (text[sign] !== '=' || end <= open) return [{ ...own, end: nameEnd, valueBegin: nameEnd, valueEnd: nameEnd, quote: '' }]
  const quote = text[open] === '"' || text[open] === "'" ? (text[open] as '"' | "'") : ''
  return [{ ...own, end, valueBegin: open + quote.length, valueEnd: end - quote.length, quote }]
}

function pastSpace(text: string, from: number): number {
  let at = from
  while (/[\t\n\f\r ]/.test(text[at] ?? '')) at++
  return at
}

/**
 * The tokeniser with the positions of attributes. By itself it forgets the second of two attributes of one name, which two branches of
 * a condition have, and looks through all attributes of a tag for each.
 */
class OffsetTokenizer extends Tokenizer {
  #attributes: RawAttribute[] = []
  #begin = 0

  /** The attributes of the tag that was just read. */
  takeAttributes(): RawAttribute[] {
    const attributes = this.#attributes
    this.#attributes = []
    return attributes
  }

  /** Where the tag begins that the text ends within. */
  unfinishedTag(): number | undefined {
    return this.currentToken?.location?.startOffset
  }

  protected override _createAttr(firstCharacter: string): void {
    super._createAttr(firstCharacter)
    this.#begin = this.preprocessor.offset
  }

  protected override _leaveAttrName(): void {
    const nameEnd = this.preprocessor.offset
    this.#attributes.push({ attribute: this.currentAttr, begin: this.#begin, nameEnd, end: nameEnd })
  }

  protected override _leaveAttrValue(): void {
    const attribute = this.#attributes.at(-1)
    if (attribute) attribute.end = this.preprocessor.offset
  }

  // The library does not notice the end of a value when there is no space before the next attribute.
  protected override _stateAfterAttributeValueQuoted(character: number): void {
    this._leaveAttrValue()
    super._stateAfterAttributeValueQuoted(character)
  }
}
