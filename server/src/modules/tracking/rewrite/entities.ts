/** Character references in attribute values (WHATWG HTML, 13.2.5.73), as far as addresses have them. */

/** Those that need no semicolon, in the order of Latin-1 from U+00A0 on. */
const LATIN_1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para
  middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml
  Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave
  aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde
  ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`
  .split(/\s+/)
  .map((name, at): [string, string] => [name, String.fromCodePoint(0xa0 + at)])

const NAMED = new Map<string, string>([
  ...LATIN_1,
  ...(['amp', 'AMP'] as const).map((name): [string, string] => [name, '&']),
  ...(['lt', 'LT'] as const).map((name): [string, string] => [name, '<']),
  ...(['gt', 'GT'] as const).map((name): [string, string] => [name, '>']),
  ...(['quot', 'QUOT'] as const).map((name): [string, string] => [name, '"']),
  ['COPY', '©'],
  ['REG', '®'],
])

const REFERENCE = /&(?:#(\d+);?|#[xX]([0-9a-fA-F]+);?|([a-zA-Z][a-zA-Z0-9]*)(;?)(=?))/g

/** The text that an attribute's source means, or null when it has a reference that is not known here. */
export function decodeAttribute(source: string): string | null {
  if (!source.includes('&')) return source
  let isKnown = true
  const text = source.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string, semicolon?: string, sign?: string) => {
    const meaning =
      name === undefined
        ? numbered(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal))
        : named(whole, name, semicolon, sign)
    isKnown &&= meaning !== null
    return meaning ?? whole
  })
  return isKnown ? text : null
}

/** What is not a character, or would be mapped to another by old rules, does not occur in addresses. */
function numbered(code: number): string | null {
  const isPlain = (code > 0 && code < 0x80) || (code >= 0xa0 && code < 0xd800) || (code >= 0xe000 && code <= 0x10ffff)
  return isPlain ? String.fromCodePoint(code) : null
}

/** `&copy=1` and `&copyright` are parts of a query; `&copy;` and `&copy/` are the sign. */
function named(whole: string, name: string, semicolon = '', sign = ''): string | null {
  if (semicolon === '') {
    const meaning = sign === '' ? NAMED.get(name) : undefined
    return meaning ?? whole
  }
  if (name === 'apos') return `'${sign}`
  const meaning = NAMED.get(name)
  return meaning === undefined ? null : meaning + sign
}

/** Text as it may stand in an attribute, whatever the quotes around it are, or none. */
export const encodeAttribute = (text: string): string =>
  text.replace(/[&<>"'`\s]/g, (character) => ENCODED[character] ?? `&#${character.charCodeAt(0)};`)

const ENCODED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
