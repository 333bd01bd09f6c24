/** Checks domains with macros (RFC 7208, 7.1). Only a receiver can expand them, because it knows the sender. */

// A letter, how many labels are kept, whether they are reversed, and where they are split; or a percent sign, a space or `%20`.
// The letters c, r and t are for explanations only, which are not in the record.
const MACROS = /%(?:\{[slodiphv](?:0*[1-9]\d*)?r?[-.+,/_=]*\}|[%_-])/gi

/** A label that is not numeric, after a dot. */
const TOP_LABEL = /\.(?:[a-z0-9]+-[a-z0-9-]*[a-z0-9]|\d*[a-z][a-z0-9]*)\.?$/i

/** Whether a domain with a percent sign is valid: it ends with a macro or a top-level domain, and what is not a macro is plain text. */
export function hasValidMacros(domain: string): boolean {
  const plain = domain.replace(MACROS, '')
  const last = [...domain.matchAll(MACROS)].at(-1)
  const endsWithMacro = last !== undefined && last.index + last[0].length === domain.length
  return /^[!-$&-~]*$/.test(plain) && (endsWithMacro || TOP_LABEL.test(domain))
}
