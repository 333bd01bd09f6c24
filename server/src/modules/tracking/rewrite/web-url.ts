// A scheme is letters, and what is none of its letters ends the search for one.
const OTHER_THAN_WEB = /^(?:[#?]|\/(?!\/)|(?!https?:)[a-z][a-z0-9+.-]*:)/i

/** The complete web address that a browser reads from the value of an attribute; null if the value is something else. */
export function webUrlOf(value: string): string | null {
  const text = trimmed(value).replace(/[\t\n\r]/g, '')
  const url = text.startsWith('//') ? `https:${text}` : text
  return /^https?:/i.test(url) && URL.canParse(url) ? url : null
}

/** Is a value with this beginning certainly not a web address, whatever follows? */
export const isSurelyOther = (value: string): boolean => OTHER_THAN_WEB.test(trimmed(value))

/** Without the spaces and controls around it, which browsers pass over. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && text.charCodeAt(from) <= 0x20) from++
  while (from < to && text.charCodeAt(to - 1) <= 0x20) to--
  return text.slice(from, to)
}
