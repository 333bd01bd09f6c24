import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mutantsOf, mutated, shuffled } from '../../../scripts/mutate/mutants.ts'
import { startTypeCheck } from '../../../scripts/mutate/types.ts'

/** All mutants of a text. */
const textsOf = (text: string): string[] => mutantsOf(text).map((mutant) => mutated(text, mutant))

/** All mutants of a query, without the statement around it. */
const queriesOf = (query: string): string[] => textsOf(`const x = sql\`${query}\``).map((text) => text.slice('const x = sql`'.length, -1))

describe('a mutant of TypeScript', () => {
  test.each([
    ['a boundary', 'a < b', ['a <= b']],
    ['a boundary', 'a >= b', ['a > b']],
    ['an equality', 'a === b', ['a !== b']],
    ['a sum', 'a - b', ['a + b']],
    ['no joined text', `'a' + b`, []],
    ['no joined text', `a + 'b'`, []],
    ['a product', 'a * b', ['a / b']],
    ['each operand of a chain', 'a && b && c', ['b && c', 'a && c', 'a && b']],
    ['each operand of a chain in another', 'a || b && c', ['b && c', 'a', 'a || c', 'a || b']],
    ['a default', 'a ?? b', ['b', 'a']],
    ['a negation', '!a', ['a']],
    ['a truth', 'true', ['false']],
    ['a number', '1_000', ['1001']],
    ['a number in hexadecimal', '0xff', ['256']],
    ['each element', '[a, b, ...c]', ['[b, ...c]', '[a, ...c]', '[a, b]']],
    ['the only element', '[a]', ['[]']],
    ['a spread member and its neighbours', '({ ...a, b })', ['({ b })', '({ ...a })']],
    ['no member of an object without a spread', '({ a, b })', []],
    ['a condition', 'a() ? b : c', ['!(a()) ? b : c']],
    ['an equality once', 'a() === b ? c : d', ['a() !== b ? c : d']],
    ['a negation once', '!a ? b : c', ['a ? b : c']],
    ['a call', 'Math.max(a, b)', ['Math.min(a, b)']],
    ['a filter', 'a.filter(b).map(c)', ['a.map(c)']],
    ['a count', 'a++', ['a--']],
  ])('changes %s: %s', (_, expression, expected) => {
    expect(textsOf(`const x = () => ${expression}`)).toEqual(expected.map((changed) => `const x = () => ${changed}`))
  })

  test.each([
    ['a call', 'a()', [';']],
    ['a call that is waited for', 'await a()', [';']],
    ['an assignment', 'a = b', [';']],
    ['a guard', 'if (a) return', [';', 'if (!(a)) return']],
    ['a guard in brackets', 'if (a) { b = c; return }', [';', 'if (!(a)) { b = c; return }', 'if (a) { ; return }']],
    ['the condition of what is no guard', 'if (a) b = c', ['if (!(a)) b = c', 'if (a) ;']],
    ['a guard of a loop', 'for (const a of b) if (a()) continue', ['for (const a of b) ;', 'for (const a of b) if (!(a())) continue']],
    ['no branch of two', 'if (a) return b; else c()', ['if (!(a)) return b; else c()', 'if (a) return b; else ;']],
    ['a loop', 'while (a) b()', ['while (false) b()', 'while (a) ;']],
    ['no line of the log', `ctx.log.info({ id }, 'done')`, []],
    ['no invariant', `if (!row) throw new Error('There is no row.')`, []],
    ['no default that only counts cases', 'return outcome satisfies never', []],
  ])('leaves out %s: %s', (_, statement, expected) => {
    const around = (text: string) => `async function x() {\n  ${text}\n}\n`
    expect(textsOf(around(statement)).sort()).toEqual(expected.map(around).sort())
  })

  test('leaves types, imports and examples alone', () => {
    expect(
      textsOf(`
import { a } from 'a'
type B = 1 | true | [2, 3]
interface C { d: 4 }
export const e = { examples: [[1, true]] }
`),
    ).toEqual([])
  })

  test('drops the default of a parameter and of a member', () => {
    expect(textsOf('function a(b = c, { d = e }: D) {}')).toEqual(['function a(b, { d = e }: D) {}', 'function a(b = c, { d }: D) {}'])
  })

  test('is left out when it would not parse', () => {
    expect(textsOf('const x = () => a ?? { b: c, d: e }')).toEqual(['const x = () => a'])
  })

  test('does not mutate templates that are not SQL', () => {
    expect(textsOf('const x = html`where a and b`')).toEqual([])
  })
})

describe('a mutant of SQL', () => {
  test.each([
    ['each condition', 'select a from t where b = p and c and d', ['where c and d', 'where b = p and d', 'where b = p and c']],
    ['the only condition', 'select a from t where b = p', ['where true']],
    ['a condition in brackets', 'delete from t where (a or b)', ['where true', 'where (b)', 'where (a)']],
    ['a condition of a join', 'select a from t join u on b = c and d order by e desc', ['on d order', 'on b = c order', 'by e']],
    ['what is between', 'delete from t where a between b and c and d', ['where d', 'where a between b and c']],
    ['a boundary', 'delete from t where a < b', ['where true', 'a <= b']],
    ['a number', 'delete from t where a > 7', ['where true', '>= 7', '> 8']],
    ['no number of a column', 'select 1 from t order by 1 desc', ['order by 1']],
    ['a truth', 'update t set a = true', ['a = false']],
    ['a sum', 'select a - 1 from t', ['a + 1', 'a - 2']],
    ['no sign', 'select f(-a) from t', []],
    ['a function', 'select least(a, b) from t', ['greatest(a, b)']],
    ['a part of a case', 'select case when a then b end', ['when false']],
    ['parts of a case', 'select case when a and b then c end', ['when b then', 'when a then']],
    ['what is distinct', 'select distinct a from t', ['select a from t']],
    ['not what is distinct from another', 'select a is distinct from b from t', []],
    ['not the columns that are distinct', 'select distinct on (a) b from t', []],
    ['no hint', 'with a as not materialized (select b) select c from a', []],
    ['no conflict target', 'insert into t select a on conflict (b) do update set c = d', []],
    ['a condition of a conflict', 'insert into t select a on conflict (b) do update set c = d where e and f', ['where f', 'where e']],
    ['a conflict', 'insert into t select a on conflict do nothing', ['select a']],
    ['a lock', 'select a from t order by b limit 1 for update skip locked', ['b desc', 'limit all for', 'limit 1', 'for update']],
    ['a lock of keys', 'select a from t for key share', ['from t']],
    ['a lock of one table', 'select a from t for update of t', ['from t']],
    ['each assignment', `update t set a = 'b', c = null where true`, ['set c = null', `set a = 'b' where`, 'where false']],
    ['each value', `delete from t where a in ('b', 'c')`, ['where true', `('c')`, `('b')`]],
    ['a default', 'select coalesce(a, b) from t', ['select a from', 'select b from']],
    ['an outer join', 'select a from t left join u using (b)', ['from t join u']],
    ['a negation', 'delete from t where not a', ['where true', 'where a']],
    ['a null', 'delete from t where a is null', ['where true', 'is not null']],
    ['what is not null', 'delete from t where a is not null', ['where true', 'is null']],
    ['the limit of a query in brackets', 'select (select a from t limit 1) from u', ['limit all) from']],
    ['quoted words', `update t set a = 'b where c and d'`, []],
  ])('changes %s: %s', (_, query, expected) => {
    const found = queriesOf(query)
    expect(found).toHaveLength(expected.length)
    for (const part of expected) expect(found.filter((text) => text.includes(part))).not.toEqual([])
  })

  test('treats text in braces as one word, and mutates SQL and TypeScript in it too', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template.
    const query = 'select a from t where ${x(sql`b and c`, 1)} and d = ${e}'
    expect(queriesOf(query).sort()).toEqual(
      [
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are texts of templates.
        'select a from t where d = ${e}',
        'select a from t where ${x(sql`b and c`, 1)}',
        'select a from t where ${x(sql`c`, 1)} and d = ${e}',
        'select a from t where ${x(sql`b`, 1)} and d = ${e}',
        'select a from t where ${x(sql`b and c`, 2)} and d = ${e}',
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are texts of templates.
      ].sort(),
    )
  })
})

test('a mutant has its position and its change', () => {
  expect(mutantsOf('const a = 1\nconst b = c < d\n').map(({ line, change }) => `${line}: ${change}`)).toEqual([
    '1: literal: `const a = 1` became `const a = 2`',
    '2: boundary: `const b = c < d` became `const b = c <= d`',
  ])
})

test('a sample is the same for the same seed, and different for another seed', () => {
  const numbers = Array.from({ length: 50 }, (_, index) => index)
  const sample = shuffled(numbers, 'one').slice(0, 10)
  expect(shuffled(numbers, 'one').slice(0, 10)).toEqual(sample)
  expect(shuffled(numbers, 'two').slice(0, 10)).not.toEqual(sample)
  expect(shuffled(numbers, 'one').sort((a, b) => a - b)).toEqual(numbers)
})

test('a mutant compiles against the originals of other files, also of one that was changed before', () => {
  const root = mkdtempSync(join(tmpdir(), 'mutants-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(root, name), text)
  write('tsconfig.json', JSON.stringify({ compilerOptions: { strict: true, noEmit: true, module: 'esnext', types: [] } }))
  write('a.ts', 'export const a = 1')
  write('b.ts', `import { a } from './a'\nexport const b: number = a`)
  const types = startTypeCheck(root)
  const compiles = (file: string, text: string) => {
    write(file, text)
    types.changed(file)
    return types.compiles('b.ts')
  }
  expect(types.compiles('b.ts')).toBe(true)
  expect(compiles('a.ts', `export const a = 'one'`)).toBe(false)
  expect(compiles('a.ts', 'export const a = 1')).toBe(true)
  expect(compiles('b.ts', `import { a } from './a'\nexport const b: string = a`)).toBe(false)
})
