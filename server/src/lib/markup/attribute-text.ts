/** The text of attributes, as it is written and as it is meant. */
import { decodeHTMLAttribute } from 'entities'

/** The text that an attribute’s source means, by the rules for attributes: `&copy=1` is part of a query, `&copy;` is the sign. */
export const decodeAttribute = (source: string): string => (source.includes('&') ? decodeHTMLAttribute(source) : source)

/** Text as it may stand in an attribute, whatever the quotes around it are, or none. */
export const encodeAttribute = (text: string): string =>
  text.replace(/[&<>"'`\s]/g, (character) => ENCODED[character] ?? `&#${character.charCodeAt(0)};`)

const ENCODED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
