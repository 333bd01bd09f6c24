/** Decodes and encodes the text of attributes. */
import { decodeHTMLAttribute } from 'entities/decode'

/** Decodes the source of an attribute. By the rules for attributes, `&copy=1` stays as it is, and `&copy;` is the sign. */
export const decodeAttribute = (source: string): string => (source.includes('&') ? decodeHTMLAttribute(source) : source)

/** Encodes text for an attribute with any quotes, or none. */
export const encodeAttribute = (text: string): string =>
  text.replace(/[&<>"'`\s]/g, (character) => ENCODED[character] ?? `&#${character.charCodeAt(0)};`)

const ENCODED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
