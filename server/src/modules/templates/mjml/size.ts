/** How large MJML is, as far as compiling depends on it. */
import { readHtml } from '../../../lib/markup/html-reader.ts'
import type { MaskedText } from '../../../lib/markup/liquid-mask.ts'

/**
 * Counts elements, and rules that are applied to all of them: selectors of inline styles, the children of `mj-attributes`, and
 * `mj-selector`.
 */
export function sizeOf(masked: MaskedText): { elements: number; rules: number } {
  let [elements, rules] = [0, 0]
  let [isInlineStyle, isAttributes] = [false, false]
  for (const token of readHtml(masked)) {
    if (token.kind === 'text' && isInlineStyle) rules += selectorsIn(masked.text.slice(token.begin, token.end))
    if (token.kind !== 'tag') continue
    if (token.name === 'mj-style') isInlineStyle = !token.isEnd && token.attributes.some(({ name }) => name === 'inline')
    if (!token.isEnd) elements++
    if (!token.isEnd && (isAttributes || token.name === 'mj-selector')) rules++
    if (token.name === 'mj-attributes') isAttributes = !token.isEnd && !token.isSelfClosing
  }
  return { elements, rules }
}

/** At most how many: commas in values count too. */
const selectorsIn = (css: string): number => css.split(/[{,]/).length - 1
