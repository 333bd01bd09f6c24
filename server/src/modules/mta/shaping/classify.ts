/** Classifies what mail servers and bounces say (RFC 3463, and the words that servers use; D-MTA-32). Pure; the time is linear in the text. */
import { type Classification, classificationOf, classificationOfSender, type Label } from './classifications.ts'
import { hasAny, normalised } from './phrases.ts'
import {
  BASIC_CODES,
  CERTAIN_CODES,
  GREYLIST_PHRASES,
  OF_RECIPIENT_OR_OF_US,
  PHRASES,
  POLICY_CODES,
  RATE_PHRASES,
  RECIPIENT_PHRASES,
  SENDER_PHRASES,
  VAGUE_CODES,
} from './reply-texts.ts'

/** A reply of a mail server. */
export type ClassifiedReply = { code?: number; enhancedCode?: string; response: string }

export type ClassifyOptions = {
  /** Whether the failure is final, for texts without a code. True by default. */
  isPermanent?: boolean
  /** Our own addresses: a refusal that names one is about us, not about the recipient. */
  ownAddresses?: readonly string[]
  /** It refuses the sender, before a recipient was named. */
  isOfSender?: boolean
}

/**
 * Classifies a reply, or the text of a bounce. Enhanced codes about policies decide first, then phrases about greylisting, rates and the
 * sender, such as the name of a blocklist. Then come clear enhanced codes, other phrases and vaguer codes. A text that names our own
 * address is about the sender, unless a clear code decides or a phrase says that the recipient is invalid. With a code about policy, what is
 * not found may be our host: it is the recipient only if a phrase says so.
 */
export function classify(said: ClassifiedReply | string, options: ClassifyOptions = {}): Classification {
  const response = (typeof said === 'string' ? said : said.response).slice(0, TEXT_MAX)
  const { code, enhancedCode } = codesIn(response, typeof said === 'string' ? {} : said)
  const kind = Number(enhancedCode?.[0] ?? String(code ?? '')[0])
  const isPermanent = kind === 4 || kind === 5 ? kind === 5 : (options.isPermanent ?? true)
  // The first digit of a reply says what to do; servers confuse that of the enhanced code.
  const isFinal = code === undefined ? isPermanent : code >= 500
  const label = labelOf(
    { text: normalised(response), code, detail: enhancedCode?.slice(2), isPermanent: isFinal },
    options.ownAddresses ?? [],
  )
  if (!options.isOfSender) return classificationOf(label, isFinal)
  // RFC 1870 §6.1: at MAIL, what is full is not a mailbox.
  return classificationOfSender(label === 'mailbox-full' && code === TOO_LARGE ? 'message-too-large' : label, isFinal)
}

const TEXT_MAX = 2000
const TOO_LARGE = 552
/** Of enhanced codes. */
const POLICY_SUBJECT = '7'

type Said = { text: string; code: number | undefined; detail: string | undefined; isPermanent: boolean }

function labelOf({ text, code, detail = '', isPermanent }: Said, ownAddresses: readonly string[]): Label {
  const policy = POLICY_CODES[detail]
  if (policy) return policy
  if (hasAny(text, GREYLIST_PHRASES)) return 'greylisted'
  if (!isPermanent && hasAny(text, RATE_PHRASES)) return 'throttled'
  if (hasAny(text, SENDER_PHRASES)) return 'sender-reputation'
  const certain = CERTAIN_CODES[detail]
  if (certain && !(certain === 'inactive-mailbox' && hasAny(text, RATE_PHRASES))) return certain
  const [subject] = detail.split('.', 1) as [string]
  const counts = (phrases: readonly string[]) => !(subject === POLICY_SUBJECT && OF_RECIPIENT_OR_OF_US.has(phrases))
  const said = PHRASES.find(([, phrases]) => counts(phrases) && hasAny(text, phrases))
  if (said?.[1] !== RECIPIENT_PHRASES && hasAny(text, ownAddresses)) return 'sender-reputation'
  if (said) return said[0]
  const vague = VAGUE_CODES[detail] ?? VAGUE_CODES[subject]
  if (vague) return isPermanent ? vague.permanent : vague.temporary
  return BASIC_CODES[code ?? 0] ?? (isPermanent ? 'other' : 'throttled')
}

const BASIC = /^(?:smtp; ?)?([245]\d\d)(?: |-|$)/
const BASIC_INSIDE = /(?:^|[ :])([245]\d\d)[ -]#?[245]\.\d/
const ENHANCED = /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/

/** The codes that were given, or those in the text. */
function codesIn(response: string, given: Partial<ClassifiedReply>): { code: number | undefined; enhancedCode: string | undefined } {
  const basic = BASIC.exec(response)?.[1] ?? BASIC_INSIDE.exec(response)?.[1]
  return {
    code: given.code ?? (basic === undefined ? undefined : Number(basic)),
    enhancedCode: given.enhancedCode ?? ENHANCED.exec(response)?.[1],
  }
}
