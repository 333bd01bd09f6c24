/** The schemas of the utilities: forms (whose values are all text) and replies. Patterns give 400; ranges and lengths give 422. */
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
      pattern: '^(0|[1-9][0-9]*)$',
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
      description: `Language of the records, in upper or lower case, with \`-\` or \`_\`: ${LOCALES.join(', ')}. Values that the locale lacks are in English.`,
      default: 'en',
    }),
  ),
  seed: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Any text. The same seed with the same parameters gives the same records, and a larger `count` only adds to them. ' +
        'Random by default.',
    }),
  ),
}

type Counts<U extends string> = Record<U | `${U}Min` | `${U}Max`, TOptional<TString>>

/** The three parameters of a count: exact, minimum and maximum. */
function counts<U extends Unit>(unit: U, usedBy: string) {
  const { limits, fallback, counts } = UNITS[unit]
  const number = (description: string, fallback?: number) =>
    Type.Optional(whole(limits, { description, ...(fallback !== undefined && { default: `${fallback}` }) }))
  const span = `${limits.min} to ${limits.max}, used by ${usedBy}`
  return {
    [unit]: number(`Exact number of ${counts}: ${span}. Overrides the Min and Max parameters.`),
    [`${unit}Min`]: number(`Minimum number of ${counts}: ${span}.`, fallback?.min),
    [`${unit}Max`]: number(`Maximum number of ${counts}: ${span}.`, fallback?.max),
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
  method: choice(LOREM_METHODS, { description: 'The kind of text to generate; `profile` generates one of each.', default: 'profile' }),
  ...counts('lineCount', '`lines` and `profile`'),
  ...counts('sentenceCount', '`paragraph`, `sentences` and `profile`'),
  ...counts('paragraphCount', '`paragraphs` and `profile`'),
  ...counts('wordCount', '`sentence`, `slug`, `words` and `profile`'),
  ...counts('wordLength', '`word` and `profile`'),
  strategy: choice(STRATEGIES, {
    description:
      'What to do if the locale has no word of the requested length: refuse the request, or use a word of the closest, the ' +
      'shortest, the longest or any length. Used by `word` and `profile`.',
    default: 'any-length',
  }),
  separator: Type.Optional(
    Type.String({
      maxLength: 16,
      description: 'Separator of `sentences` (default: a space) and `paragraphs` (default: a line feed). May be empty.',
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
  method: choice(COMMERCE_METHODS, { description: 'The kind of value to generate; `profile` generates one of each.', default: 'profile' }),
  priceMin: Type.Optional(
    decimal({ description: 'Minimum price, as a signed decimal number. Used by `price` and `profile`.', default: '1' }),
  ),
  priceMax: Type.Optional(
    decimal({ description: 'Maximum price, as a signed decimal number. Used by `price` and `profile`.', default: '1000' }),
  ),
  priceDecimalPlaces: Type.Optional(
    whole({ min: 0, max: 10 }, { description: 'Digits after the decimal point, 0 to 10. Used by `price` and `profile`.', default: '2' }),
  ),
  priceSymbol: Type.Optional(
    Type.String({
      maxLength: 8,
      description: 'Symbol before the digits of the price. May be empty. Used by `price` and `profile`.',
      default: '',
    }),
  ),
  isbnVariant: choice(['10', '13'], { description: 'Number of digits of the ISBN. Used by `isbn` and `profile`.', default: '13' }),
  isbnSeparator: Type.Optional(
    Type.String({
      maxLength: 3,
      pattern: '^[ -~]*$',
      problem: 'may only contain printable ASCII characters',
      description: 'Separator between the groups of the ISBN. May be empty. Used by `isbn` and `profile`.',
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
  method: choice(FOOD_METHODS, { description: 'The kind of value to generate; `profile` generates one of each.', default: 'profile' }),
})

export const ContactForm = Exact(common)

export const SentimentForm = Exact({
  text: Type.String({ notBlank: true, maxLength: 100_000, description: 'English text to analyse, up to 100,000 characters.' }),
})

// The length is part of the format here, so the code is 400 and not 422 (D-PHV-1).
export const PhoneForm = Exact({
  phone: Type.String({
    notBlank: true,
    pattern: '^(?=[\\s\\S]{1,32}$)\\+?[0-9\\s()\\-]*[0-9][0-9\\s()\\-]*$',
    problem: 'must be digits, spaces, hyphens and parentheses after an optional plus, at most 32 characters',
    description:
      'Phone number: an optional leading plus, then digits, spaces, hyphens and parentheses, at most 32 characters. ' +
      'Without a plus, only North American numbers are recognised.',
  }),
})

export const SpfForm = Exact({
  domain: Type.String({
    trim: true,
    notBlank: true,
    format: 'spf-domain',
    description: 'Domain name of the SPF record. International names are accepted.',
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
  description: 'The seed used. It is a number if the seed is a whole number up to 4294967295 without leading zeros, and text otherwise.',
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
      generationTime: Type.Integer({ minimum: 0, description: 'Duration of the generation in milliseconds.' }),
      itemsGenerated: Type.Integer({ description: 'Number of records.' }),
      locale: Type.String({ description: 'Canonical code of the locale used.' }),
    }),
  })

type Resolved<U extends string> = Record<U | `${U}Min` | `${U}Max`, ReturnType<typeof number>>

const resolved = <U extends Unit>(unit: U) =>
  ({
    [unit]: number(`Number of ${UNITS[unit].counts} of this record.`),
    [`${unit}Min`]: number(`Minimum number of ${UNITS[unit].counts}.`),
    [`${unit}Max`]: number(`Maximum number of ${UNITS[unit].counts}.`),
  }) as Resolved<U>

const recordOf = <const M extends readonly string[], P extends Record<string, TSchema>>(methods: M, value: string, fields: P) =>
  Exact({
    method: OneOf(methods, { description: 'The method that generated this record.' }),
    value: Type.String({
      description: `The generated text. It is also in the member with the name of the method; for \`profile\`, in \`${value}\`.`,
    }),
    ...fields,
  })

// ── replies

export const LoremRecord = recordOf(LOREM_METHODS, 'text', {
  word: text('One word.'),
  words: text('Words, separated by spaces.'),
  sentence: text('One sentence.'),
  sentences: text('Sentences, joined by the separator.'),
  paragraph: text('One paragraph.'),
  paragraphs: text('Paragraphs, joined by the separator.'),
  lines: text('Sentences, one per line.'),
  slug: text('Words for a URL, in ASCII, separated by hyphens.'),
  text: text('A text of any kind.'),
  ...resolved('lineCount'),
  ...resolved('sentenceCount'),
  ...resolved('paragraphCount'),
  ...resolved('wordCount'),
  ...resolved('wordLength'),
  strategy: Type.Optional(OneOf(STRATEGIES, { description: 'The strategy used for the word.' })),
  separator: text('The separator between the sentences or, with the method `paragraphs`, between the paragraphs.'),
})

export const CommerceRecord = recordOf(COMMERCE_METHODS, 'productName', {
  productName: text('Name of a product, in several words.'),
  product: text('Kind of product.'),
  productAdjective: text('An adjective for a product.'),
  productMaterial: text('Material of a product.'),
  productDescription: text('A sentence about a product.'),
  department: text('Department of a shop.'),
  price: text('Price with its symbol. A minus sign precedes the symbol.'),
  priceMin: number('Minimum price.'),
  priceMax: number('Maximum price.'),
  priceDecimalPlaces: number('Digits after the decimal point.'),
  priceSymbol: text('The symbol used.'),
  isbn: text('ISBN with a correct check digit.'),
  isbnVariant: number('Number of digits of the ISBN: 10 or 13.'),
  isbnSeparator: text('The separator between the groups of the ISBN.'),
})

export const FoodRecord = recordOf(FOOD_METHODS, 'dish', {
  dish: text('Name of a dish.'),
  description: text('A sentence about a dish.'),
  ethnicCategory: text('A cuisine.'),
  adjective: text('An adjective for food.'),
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
    description: 'Email address at a domain reserved for examples, so that no email reaches a real mailbox.',
  }),
  phone: Type.String({ description: 'Phone number in E.164.' }),
  company: Type.String({ description: 'Name of a company.' }),
  website: Type.String({ description: 'HTTPS URL.' }),
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
    score: Type.Number({ description: 'Sum of the scores of the words: below 0 is negative, 0 neutral, above 0 positive.' }),
    comparative: Type.Number({ description: 'The score divided by the number of tokens.' }),
    calculation: Type.Array(Type.Record(Type.String(), Type.Number()), {
      description: 'Each word with a sentiment and its score, from last to first.',
    }),
    tokens: words('All words analysed, in lower case.'),
    words: words('All words with a sentiment, from last to first.'),
    positive: words('The words that raised the score.'),
    negative: words('The words that lowered the score.'),
  }),
)

export const PhoneReply = reply(
  Exact({
    isValid: Type.Boolean({ description: 'Whether it is a mobile number of a known country.' }),
    phoneNumber: text('The number in E.164; present only if it is valid.'),
    countryIso2: Nullable(Type.String({ description: 'ISO 3166 alpha-2 code of the country; null if the number is not valid.' })),
    countryIso3: Nullable(Type.String({ description: 'ISO 3166 alpha-3 code of the country; null if the number is not valid.' })),
    countryCode: Nullable(Type.String({ description: 'Calling code with its plus; null if the number is not valid.' })),
  }),
)

export const SpfReply = reply(
  Exact({
    record: Type.String({ description: 'The published SPF record; empty if there is none, or the look-up failed.' }),
    warnings: words('Errors and risks, one sentence each.'),
    details: Exact({
      version: Nullable(Type.String({ description: '`spf1`; null without a record.' })),
      mechanisms: words('Published mechanisms and modifiers, in order, without the final `all`.'),
      policy: Nullable(Type.String({ description: 'The `all` term with its qualifier; null if there is none.' })),
    }),
  }),
)

/** The results of a TCP connection attempt (D-TCP-2). */
export const CONNECTIONS = ['success', 'refused', 'timeout', 'unreachable', 'reset', 'dns_error', 'blocked', 'error'] as const

export const TcpReply = reply(
  Exact({
    connection: OneOf(CONNECTIONS, {
      description:
        '`success`: connected. `refused`: the port accepts no connections. `timeout`: no response in 5 seconds. ' +
        '`unreachable`: there is no route to the address. `reset`: the connection was reset while connecting. ' +
        '`dns_error`: the name does not resolve. `blocked`: the egress policy does not allow the address. `error`: another error.',
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
