import { Tokenizer, TokenizerMode } from 'parse5'

/** The start tags of a document, as the tokeniser of browsers finds them. */
export function tagsByParser(html: string): { name: string; attributes: [string, string][] }[] {
  const tags: { name: string; attributes: [string, string][] }[] = []
  const ignore = () => undefined
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag({ tagName, attrs }) {
        if (tagName === 'textarea' || tagName === 'title') tokenizer.state = TokenizerMode.RCDATA
        if (tagName === 'style') tokenizer.state = TokenizerMode.RAWTEXT
        tags.push({ name: tagName, attributes: attrs.map(({ name, value }) => [name, value]) })
      },
      onEndTag: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onParseError: null,
    },
  )
  tokenizer.write(html, true)
  return tags
}
