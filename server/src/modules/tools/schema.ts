/** Wire shapes of the utilities: forms as they come (all text) and replies. Patterns answer 400, ranges and lengths 422. */
import { type Static, type TArray, type TOptional, type TSchema, type TString, Type } from 'typebox'
import { Exact, Nullable, OneOf } from '../../lib/shapes.ts'
import { LOCALE_PATTERN, LOCALES } from './generate/locales.ts'
import { type Range, UNITS, type Unit } from './generate/ranges.ts'

// ── forms: the parts

const WHOLE_NUMBER = 'must be a whole number in digits, without a sign, leading zeros or spaces'

const whole = ({ min, max }: Range, options: object) =>
  Type.String({ notBlank: true, pattern: '^(0|[1-9][0-9]*)$', problem: WHOLE_NUMBER, numericRange: [min, max], ...options })

const decimal = (options: object) =>
  Type.String({
    notBlank: true,
    pattern: '^[+-]?([0-9]+(\\.[0-9]+)?|\\.[0-9]+)$',
    problem: 'must be a decimal number such as `9.95` or `-20`',
    numericRange: [-1e12, 1e12],
    ...options,
  })

const choice = <const T extends readonly string[]>(values: T, options: object) => Type.Optional(OneOf(values, { minLength: 1, ...options }))

const common = {
  count: Type.Optional(
    Type.String({
      notBlank: true,
      pattern: '^(0|[1-9][0-9]{0,5})$',
      problem: WHOLE_NUMBER,
      numericRange: [1, 100],
      description: 'How many records to generate, 1 to 100.',
      default: '10',
    }),
  ),
  locale: Type.Optional(
    Type.String({
      trim: true,
      notBlank: true,
      pattern: LOCALE_PATTERN,
      problem: `must be one of ${LOCALES.join(', ')}`,
      description: `Language of the records, in any case and with \`-\` or \`_\`: ${LOCALES.join(', ')}. What a locale lacks is in English.`,
      default: 'en',
    }),
  ),
  seed: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Any text. The same seed with the same parameters gives the same records, and a larger `count` only adds to them. ' +
        'Random when absent.',
    }),
  ),
}

type Counts<U extends string> = Record<U | `${U}Min` | `${U}Max`, TOptional<TString>>

/** A count in its three variants: exactly, at least, at most. */
function counts<U extends Unit>(unit: U, usedBy: string) {
  const { limits, usual, counts } = UNITS[unit]
  const number = (description: string, fallback?: number) =>
    Type.Optional(whole(limits, { description, ...(fallback !== undefined && { default: `${fallback}` }) }))
  const span = `${limits.min} to ${limits.max}, used by ${usedBy}`
  return {
    [unit]: number(`Number of ${counts}, exactly: ${span}. Wins over the Min and Max variants.`),
    [`${unit}Min`]: number(`Least number of ${counts}: ${span}.`, usual?.min),
    [`${unit}Max`]: number(`Greatest number of ${counts}: ${span}.`, usual?.max),
  } as Counts<U>
}

// ── forms

export const LOREM_METHODS = [
  'profile',
  'lines',
  'paragraph',
  'paragraphs',
  'sentence',
  'sentences',
  'slug',
  'text',
  'word',
  'words',
] as const
export const STRATEGIES = ['fail', 'closest', 'shortest', 'longest', 'any-length'] as const

export const LoremForm = Exact({
  ...common,
  method: choice(LOREM_METHODS, { description: 'What to write; `profile` writes one of each.', default: 'profile' }),
  ...counts('lineCount', '`lines` and `profile`'),
  ...counts('sentenceCount', '`paragraph`, `sentences` and `profile`'),
  ...counts('paragraphCount', '`paragraphs` and `profile`'),
  ...counts('wordCount', '`sentence`, `slug`, `words` and `profile`'),
  ...counts('wordLength', '`word` and `profile`'),
  strategy: choice(STRATEGIES, {
    description:
      'What to do when the locale has no word of the wanted length: refuse, or take a word of the closest, the shortest, ' +
      'the longest or any length. Used by `word` and `profile`.',
    default: 'any-length',
  }),
  separator: Type.Optional(
    Type.String({
      maxLength: 16,
      description: 'What joins `sentences` (one space unless given) and `paragraphs` (a line feed unless given). May be empty.',
    }),
  ),
})

export const COMMERCE_METHODS = [
  'profile',
  'department',
  'isbn',
  'price',
  'product',
  'productAdjective',
  'productDescription',
  'productMaterial',
  'productName',
] as const

export const CommerceForm = Exact({
  ...common,
  method: choice(COMMERCE_METHODS, { description: 'What to make up; `profile` makes up one of each.', default: 'profile' }),
  priceMin: Type.Optional(decimal({ description: 'Lowest price, as a signed decimal. Used by `price` and `profile`.', default: '1' })),
  priceMax: Type.Optional(decimal({ description: 'Highest price, as a signed decimal. Used by `price` and `profile`.', default: '1000' })),
  priceDecimalPlaces: Type.Optional(
    whole({ min: 0, max: 10 }, { description: 'Digits after the point, 0 to 10. Used by `price` and `profile`.', default: '2' }),
  ),
  priceSymbol: Type.Optional(
    Type.String({
      maxLength: 8,
      description: 'Stands before the digits of the price. May be empty. Used by `price` and `profile`.',
      default: '',
    }),
  ),
  isbnVariant: choice(['10', '13'], { description: 'Digits of the ISBN. Used by `isbn` and `profile`.', default: '13' }),
  isbnSeparator: Type.Optional(
    Type.String({
      maxLength: 3,
      pattern: '^[ -~]*$',
      problem: 'may only contain printable ASCII characters',
      description: 'Stands between the groups of the ISBN. May be empty. Used by `isbn` and `profile`.',
      default: '-',
    }),
  ),
})

export const FOOD_METHODS = [
  'profile',
  'adjective',
  'description',
  'dish',
  'ethnicCategory',
  'fruit',
  'ingredient',
  'meat',
  'spice',
  'vegetable',
] as const

export const FoodForm = Exact({
  ...common,
  method: choice(FOOD_METHODS, { description: 'What to cook up; `profile` cooks up one of each.', default: 'profile' }),
})

export const ContactForm = Exact(common)

export const SentimentForm = Exact({
  text: Type.String({ notBlank: true, maxLength: 100_000, description: 'English text to analyse, up to 100 000 characters.' }),
})

// The length belongs to the format here (D-PHV-1): 400, not 422.
export const PhoneForm = Exact({
  phone: Type.String({
    notBlank: true,
    pattern: '^(?=[\\s\\S]{1,32}$)\\+?[0-9\\s()\\-]*[0-9][0-9\\s()\\-]*$',
    problem: 'must be digits, spaces, hyphens and parentheses after an optional plus, at most 32 characters',
    description:
      'Phone number: an optional leading plus, then digits, spaces, hyphens and parentheses, at most 32 characters. ' +
      'Without a plus only North American numbers are recognised.',
  }),
})

export const SpfForm = Exact({
  domain: Type.String({
    trim: true,
    notBlank: true,
    format: 'spf-domain',
    description: 'Domain name whose SPF record is looked up. International names are accepted.',
  }),
})

export const TcpForm = Exact({
  domain_ip: Type.String({
    trim: true,
    notBlank: true,
    format: 'hostname-or-ip',
    description: 'Host name, IPv4 address or IPv6 address (with or without brackets).',
  }),
  port: whole({ min: 1, max: 65_535 }, { description: 'TCP port, 1 to 65535.' }),
})

// ── replies: the parts

const success = Type.Unsafe<'success'>({ type: 'string', const: 'success', description: 'Always `success`.' })

const reply = <S extends TSchema>(data: S) => Exact({ status: success, data })

const text = (description: string) => Type.Optional(Type.String({ description }))
const number = (description: string) => Type.Optional(Type.Number({ description }))

const listed = <K extends string, R extends TSchema>(collection: K, record: R) =>
  ({ [collection]: Type.Array(record, { description: 'The records, in a stable order.' }) }) as Record<K, TArray<R>>

const echoes = {
  generated: Type.Integer({ description: 'Number of records.' }),
  locale: Type.String({ description: 'Canonical code of the locale used.' }),
}

const Seed = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  description: 'The seed used: a number when it is a whole number up to 4294967295 without leading zeros, the text otherwise.',
})

const generatorReply = <K extends string, R extends TSchema, const M extends readonly string[]>(collection: K, record: R, methods: M) =>
  Exact({
    status: success,
    data: Exact({
      ...listed(collection, record),
      ...echoes,
      seed: Seed,
      method: OneOf(methods, { description: 'The method used.' }),
    }),
    performance: Exact({
      generationTime: Type.Integer({ minimum: 0, description: 'Milliseconds the generation took.' }),
      itemsGenerated: Type.Integer({ description: 'Number of records.' }),
      locale: Type.String({ description: 'Canonical code of the locale used.' }),
    }),
  })

type Resolved<U extends string> = Record<U | `${U}Min` | `${U}Max`, ReturnType<typeof number>>

const resolved = <U extends Unit>(unit: U) =>
  ({
    [unit]: number(`Number of ${UNITS[unit].counts}, as drawn for this record.`),
    [`${unit}Min`]: number(`Least number of ${UNITS[unit].counts} it was drawn from.`),
    [`${unit}Max`]: number(`Greatest number of ${UNITS[unit].counts} it was drawn from.`),
  }) as Resolved<U>

const recordOf = <const M extends readonly string[], P extends Record<string, TSchema>>(methods: M, value: string, fields: P) =>
  Exact({
    method: OneOf(methods, { description: 'The method that made this record.' }),
    value: Type.String({ description: `What the method is named after; of a \`profile\` the \`${value}\`.` }),
    ...fields,
  })

// ── replies

export const LoremRecord = recordOf(LOREM_METHODS, 'text', {
  word: text('One word.'),
  words: text('Words with spaces between them.'),
  sentence: text('One sentence.'),
  sentences: text('Sentences, joined by the separator.'),
  paragraph: text('One paragraph.'),
  paragraphs: text('Paragraphs, joined by the separator.'),
  lines: text('Sentences, one a line.'),
  slug: text('Words for a URL, in ASCII with hyphens between them.'),
  text: text('A text of any form.'),
  ...resolved('lineCount'),
  ...resolved('sentenceCount'),
  ...resolved('paragraphCount'),
  ...resolved('wordCount'),
  ...resolved('wordLength'),
  strategy: Type.Optional(OneOf(STRATEGIES, { description: 'The strategy used for the word.' })),
  separator: text('What joins the sentences, or with the method `paragraphs` the paragraphs.'),
})

export const CommerceRecord = recordOf(COMMERCE_METHODS, 'productName', {
  productName: text('Name of a product, of several words.'),
  product: text('Kind of product.'),
  productAdjective: text('What a product is like.'),
  productMaterial: text('What a product is made of.'),
  productDescription: text('A sentence about a product.'),
  department: text('Department of a shop.'),
  price: text('Price with its symbol; a minus stands before the symbol.'),
  priceMin: number('Lowest price allowed.'),
  priceMax: number('Highest price allowed.'),
  priceDecimalPlaces: number('Digits after the point.'),
  priceSymbol: text('The symbol used.'),
  isbn: text('ISBN with a correct check digit.'),
  isbnVariant: number('Digits of the ISBN: 10 or 13.'),
  isbnSeparator: text('What stands between the groups of the ISBN.'),
})

export const FoodRecord = recordOf(FOOD_METHODS, 'dish', {
  dish: text('Name of a dish.'),
  description: text('A sentence about a dish.'),
  ethnicCategory: text('A cuisine.'),
  adjective: text('What food is like.'),
  ingredient: text('An ingredient.'),
  meat: text('A meat.'),
  fruit: text('A fruit.'),
  vegetable: text('A vegetable.'),
  spice: text('A spice.'),
})

export const ContactRecord = Exact({
  id: Type.String({ description: 'A UUID (version 4).' }),
  name: Type.String({ description: 'Full name.' }),
  email: Type.String({
    description: 'Email address at a domain reserved for examples, so that nobody receives what is sent there.',
  }),
  phone: Type.String({ description: 'Phone number in E.164.' }),
  company: Type.String({ description: 'Name of a company.' }),
  website: Type.String({ description: 'HTTPS address.' }),
})

export const LoremReply = generatorReply('lorem', LoremRecord, LOREM_METHODS)
export const CommerceReply = generatorReply('commerce', CommerceRecord, COMMERCE_METHODS)
export const FoodReply = generatorReply('foods', FoodRecord, FOOD_METHODS)
export const ContactReply = reply(
  Exact({
    ...listed('contacts', ContactRecord),
    ...echoes,
    seed: Type.String({ description: 'The seed used.' }),
    method: OneOf(['profile'], { description: 'Always `profile`.' }),
  }),
)

const words = (description: string) => Type.Array(Type.String(), { description })

export const SentimentReply = reply(
  Exact({
    score: Type.Number({ description: 'Sum of the scores; negative is negative sentiment, 0 neutral, positive is positive.' }),
    comparative: Type.Number({ description: 'The score divided by the number of tokens.' }),
    calculation: Type.Array(Type.Record(Type.String(), Type.Number()), {
      description: 'Each sentiment-bearing word with its score, from last to first.',
    }),
    tokens: words('All words analysed, in lower case.'),
    words: words('All sentiment-bearing words, from last to first.'),
    positive: words('The words that raised the score.'),
    negative: words('The words that lowered the score.'),
  }),
)

export const PhoneReply = reply(
  Exact({
    isValid: Type.Boolean({ description: 'Is it a mobile number of a known country?' }),
    phoneNumber: text('The number in E.164; present only when it is valid.'),
    countryIso2: Nullable(Type.String({ description: 'ISO 3166 alpha-2 code of the country; null when the number is not valid.' })),
    countryIso3: Nullable(Type.String({ description: 'ISO 3166 alpha-3 code of the country; null when the number is not valid.' })),
    countryCode: Nullable(Type.String({ description: 'Calling code with its plus; null when the number is not valid.' })),
  }),
)

export const SpfReply = reply(
  Exact({
    record: Type.String({ description: 'The SPF record as published; empty when there is none or it could not be looked up.' }),
    warnings: words('What is wrong or risky, one sentence each.'),
    details: Exact({
      version: Nullable(Type.String({ description: '`spf1`; null without a record.' })),
      mechanisms: words('Mechanisms and modifiers as published and in order, without the terminal `all`.'),
      policy: Nullable(Type.String({ description: 'The `all` term with its qualifier; null when there is none.' })),
    }),
  }),
)

/** How a TCP connection attempt may end (D-TCP-2). */
export const CONNECTIONS = ['success', 'refused', 'timeout', 'unreachable', 'reset', 'dns_error', 'blocked', 'error'] as const

export const TcpReply = reply(
  Exact({
    connection: OneOf(CONNECTIONS, {
      description:
        '`success`: connected. `refused`: nothing listens. `timeout`: no answer in 5 seconds. `unreachable`: no way there. ' +
        '`reset`: broken off while connecting. `dns_error`: the name does not resolve. ' +
        '`blocked`: the address is outside the egress policy. `error`: anything else.',
    }),
  }),
)

export type LoremForm = Static<typeof LoremForm>
export type CommerceForm = Static<typeof CommerceForm>
export type FoodForm = Static<typeof FoodForm>
export type ContactForm = Static<typeof ContactForm>
export type SentimentForm = Static<typeof SentimentForm>
export type PhoneForm = Static<typeof PhoneForm>
export type SpfForm = Static<typeof SpfForm>
export type TcpForm = Static<typeof TcpForm>

export type LoremRecord = Static<typeof LoremRecord>
export type CommerceRecord = Static<typeof CommerceRecord>
export type FoodRecord = Static<typeof FoodRecord>
export type ContactRecord = Static<typeof ContactRecord>

export type LoremReply = Static<typeof LoremReply>
export type CommerceReply = Static<typeof CommerceReply>
export type FoodReply = Static<typeof FoodReply>
export type ContactReply = Static<typeof ContactReply>
export type SentimentReply = Static<typeof SentimentReply>
export type PhoneReply = Static<typeof PhoneReply>
export type SpfReply = Static<typeof SpfReply>
export type TcpReply = Static<typeof TcpReply>

export type Connection = (typeof CONNECTIONS)[number]
