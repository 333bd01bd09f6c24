/** Arbitrary Liquid that mostly parses, and scopes in which about half of what it reads exists. */
import fc from 'fast-check'
import { filterCases } from './liquid-cases.ts'

const NAMES = ['a', 'b', 'list', 'user', 'item', 'size', 'first', 'last', 'forloop', 'continue', 'a\\.b', 'x-y', 'ü', '__proto__']
const LITERALS = ['1', '-2', '0', '3.5', '"text"', "'<&>'", '""', 'true', 'false', 'nil', 'empty', 'blank', '"2"', '(1..3)', '(a..b)']
const OPERATORS = ['==', '!=', '<', '>', '<=', '>=', 'contains', 'and', 'or']
const TEXTS = ['text', ' ', '\n', '<p>', '{ % ', '}}', 'ü👍', '\r\n\t', '']

const textIn = (...choices: string[]): fc.Arbitrary<string> => fc.constantFrom(...choices)
const joined = (...parts: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((texts) => texts.join(''))
const several = (part: fc.Arbitrary<string>, maxLength: number, between = ''): fc.Arbitrary<string> =>
  fc.array(part, { maxLength }).map((parts) => parts.join(between))

const name = textIn(...NAMES)
const variable = textIn('a', 'b', 'list', 'item', 'i', 'forloop')

const { path } = fc.letrec<{ path: string; member: string }>((tie) => ({
  path: joined(name, fc.oneof({ weight: 2, arbitrary: fc.constant('') }, several(tie('member'), 2))),
  member: fc.oneof(
    { withCrossShrink: true, depthSize: 'small' },
    joined('.', name),
    joined('[', textIn(...LITERALS), ']'),
    joined('[', tie('path'), ']'),
  ),
}))

const value = fc.oneof({ weight: 3, arbitrary: path }, textIn(...LITERALS), joined('(', path, '..', textIn('2', '5', 'a'), ')'))
const expression = fc.oneof(
  { weight: 3, arbitrary: value },
  joined(value, ' ', textIn(...OPERATORS), ' ', value),
  joined(value, ' ', textIn(...OPERATORS), ' ', value, ' ', textIn(...OPERATORS), ' ', value),
  joined('not ', value),
  joined(value, ' ', value),
)

// `sample` is random.
const FILTERS = Object.entries(filterCases).filter(([name]) => name !== 'sample')
const filter = fc
  .constantFrom(...FILTERS)
  .chain(([name, argumentLists]) =>
    fc.oneof(
      { weight: 2, arbitrary: textIn(` | ${name}`, ...argumentLists.map((given) => ` | ${name}${given}`)) },
      joined(` | ${name}: `, value),
      joined(` | ${name}: `, value, ', ', value),
      joined(` | ${name}: k: `, value),
    ),
  )
const filtered = joined(expression, several(filter, 3))
const loopParameters = several(
  fc.oneof(joined(textIn('limit', 'offset', 'cols'), ':', value), textIn('reversed', 'offset:continue')),
  2,
  ' ',
)

/** A tag with its parts, between the delimiters that are given. */
const tag = (...parts: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc.tuple(textIn('{%', '{%', '{%-'), textIn('%}', '%}', '-%}'), joined(...parts)).map(([begin, end, text]) => `${begin} ${text} ${end}`)

const simple = fc.oneof(
  { weight: 3, arbitrary: joined(textIn('{{', '{{-'), ' ', filtered, ' ', textIn('}}', '-}}')) },
  { weight: 3, arbitrary: textIn(...TEXTS) },
  tag('assign ', variable, ' = ', filtered),
  tag('echo ', filtered),
  tag(textIn('increment ', 'decrement '), variable),
  tag('cycle ', fc.oneof(fc.constant(''), joined(value, ': ')), filtered, ', ', value),
  tag(textIn('break', 'continue', '# note')),
  textIn('{% raw %}{{ a }}{% endraw %}', '{% comment %}{{ a }}{% endcomment %}'),
  joined('{% liquid\n assign ', variable, ' = ', filtered, '\n echo ', filtered, '\n%}'),
)

const { block } = fc.letrec<{ block: string; node: string }>((tie) => ({
  block: several(tie('node'), 4),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: simple },
    joined(tag('if ', filtered), tie('block'), tag('elsif ', filtered), tie('block'), tag('else'), tie('block'), tag('endif')),
    joined(tag('unless ', filtered), tie('block'), tag('else'), tie('block'), tag('endunless')),
    joined(
      tag('case ', filtered),
      tag('when ', value, textIn(', ', ' or '), value),
      tie('block'),
      tag('when ', value),
      tie('block'),
      tag('endcase'),
    ),
    joined(tag('for ', variable, ' in ', value, ' ', loopParameters), tie('block'), tag('else'), tie('block'), tag('endfor')),
    joined(tag('for ', variable, ' in list ', loopParameters), tie('block'), tag('endfor')),
    joined(tag('tablerow ', variable, ' in ', value, ' ', loopParameters), tie('block'), tag('endtablerow')),
    joined(tag('capture ', variable), tie('block'), tag('endcapture')),
  ),
}))

export const arbitraryTemplate: fc.Arbitrary<string> = fc.array(block, { minLength: 1, maxLength: 4 }).map((blocks) => blocks.join('\n'))

const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -1.5, 1e21, '', ' ', 'text', '12', '<b>', 'ü👍', '2026-11-20T23:30:00Z', '%E2%'),
    fc.string({ maxLength: 5 }),
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'id', 'name', 'a.b', 'size', 'first', 'toString', 'ü'), tie('data'), { maxKeys: 3 }),
  ),
}))

export const arbitraryScope: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    a: data,
    b: data,
    list: fc.array(data, { maxLength: 4 }),
    user: fc.dictionary(fc.constantFrom('id', 'data', 'locale', 'timezone'), data),
    item: data,
    ü: data,
    size: data,
  },
  { requiredKeys: [] },
)
