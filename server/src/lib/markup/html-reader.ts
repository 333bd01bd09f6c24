/**
 * Reads HTML as browsers do, with the tokeniser of parse5, and returns tokens with their positions. The text is masked, so that Liquid can
 * be anywhere. MJML is read in the same way.
 */
import { Tokenizer, TokenizerMode } from 'parse5'
import type { MaskedText } from './liquid-mask.ts'

/** Positions are those of the masked text; `MaskedText` maps them to the source. */
type Range = { begin: number; end: number }

/** `value` is decoded. Its source is the text between `valueBegin` and `valueEnd`, without quotes. */
export type HtmlAttribute = Range & { name: string; value: string; valueBegin: number; valueEnd: number; quote: '"' | "'" | '' }

export type HtmlTag = Range & { kind: 'tag'; name: string; isEnd: boolean; isSelfClosing: boolean; attributes: HtmlAttribute[] }
export type HtmlText = Range & { kind: 'text' }
/** A comment, a declaration or a processing instruction. */
type HtmlComment = Range & { kind: 'comment' }
export type HtmlToken = HtmlTag | HtmlText | HtmlComment

/** `readsConditions`: reads the content of conditional comments as markup, as Outlook does. */
type Options = { readsConditions?: boolean }

/** Elements whose content is text, with the state of the tokeniser that reads it. */
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

// Without `<`, so that many comments without an end do not each read the rest of the text.
const CONDITION = /<!--\[if\b[^\]<>]*\]>/gi

/** The tokens of masked HTML in order. Like browsers, leaves out a tag without an end. */
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

/** The name of a tag up to the first Liquid, whose output begins with a space. */
function beforePlaceholder(name: string, placeholder: RegExp): string {
  const at = name.search(placeholder)
  return at === -1 ? name : name.slice(0, at)
}

type RawAttribute = Range & { attribute: { name: string; value: string }; nameEnd: number }

/** An attribute without the Liquid before it. Empty if there is only Liquid. */
function attributeOf({ attribute, begin, nameEnd, end }: RawAttribute, text: string, leading: RegExp): HtmlAttribute[] {
  const liquid = leading.exec(attribute.name)?.[0].length ?? 0
  const name = attribute.name.slice(liquid)
  if (name === '') return []
  const own = { name, value: attribute.value, begin: begin + liquid }
  const sign = pastSpace(text, nameEnd)
  const open = pastSpace(text, sign + 1)
  // The tag ends after `=` without a value.
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
 * The tokeniser with the positions of attributes. The original drops the second of two attributes with one name, which two branches of a
 * condition may have, and compares each attribute with all others of the tag.
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

  /** The start of a tag without an end. */
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

  // The library does not report the end of a value without a space before the next attribute.
  protected override _stateAfterAttributeValueQuoted(character: number): void {
    this._leaveAttrValue()
    super._stateAfterAttributeValueQuoted(character)
  }
}
