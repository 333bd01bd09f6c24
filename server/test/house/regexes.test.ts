/**
 * No regular expression takes more than linear time, whatever text it is applied to: one that backtracks lets a single request stop
 * the server. `recheck` decides. What it found linear is listed in `regexes.snap.txt`, because a verdict can take seconds; it
 * is asked only about expressions that are not in the list. `vitest -u` writes the list.
 */
import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { sourcesOf } from './sources.ts'

const LINEAR = new URL('./regexes.snap.txt', import.meta.url)
const CHECK_TIMEOUT_MS = 60_000

/** Code that reads no text of a caller. */
const EXEMPT_FOLDERS: Record<string, string> = {
  'server/src/docs-site/': 'reads the documentation of this release, once',
  'server/src/cli/import-from/': 'reads files on the machine of its user, outside the server',
}

/** Expressions that `recheck` cannot judge, and why they are linear. */
const EXCEPTIONS: Record<string, string> = {
  '/[\\p{Cc}--[\\u0080-\\u009f]]/v': 'one class of characters; recheck does not know the flag `v`',
}

/** Expressions that are built from a variable, as one that they build. */
const BUILT: Record<string, RegExp> = {
  'server/src/infra/runtime/setting-types.ts: new RegExp(`^${prefix}[A-Za-z0-9_-]{16,250}$`)': /^sk_[A-Za-z0-9_-]{16,250}$/,
  // Every pattern of a schema is checked where it is written.
  "server/src/lib/validate.ts: new RegExp(parent.pattern, 'u')": /^(0|[1-9][0-9]*)$/u,
  // The prefixes of the library, which are short choices between digits.
  'server/src/lib/phone.ts: new RegExp(`^(?:${pattern})`)': /^(?:(183[12])|0)/,
  'server/src/lib/markup/html-reader.ts: new RegExp(`^(?:${placeholder.source})+`)': /^(?:_lq0tag(\d+)z)+/,
  "server/src/lib/markup/liquid-mask.ts: new RegExp(`${prefix}(\\\\d+)z`, 'g')": /_lq0tag(\d+)z/g,
  "server/src/lib/markup/plain-text.ts: new RegExp(`(${masked.placeholder.source})\\n\\n`, 'g')": /(_lq0tag(\d+)z)\n\n/g,
  "server/src/lib/markup/plain-text.ts: new RegExp(`\\\\{(?=[{%]|${placeholder.source})`, 'g')": /\{(?=[{%]|_lq0tag(\d+)z)/g,
  'server/src/lib/markup/reduce-html.ts: new RegExp(`([ \\\\t\\\\r\\\\n\\\\f]+|${liquid})`)': /([ \t\r\n\f]+|_lq0tag\d+z)/,
  'server/src/lib/markup/reduce-html.ts: new RegExp(`(${liquid})`)': /(_lq0tag\d+z)/,
  "server/src/modules/templates/mjml/wrap.ts: new RegExp(`${source}(?:\\\\s*${source})*`, 'g')": /_lq0tag(\d+)z(?:\s*_lq0tag(\d+)z)*/g,
  "server/src/modules/tools/generate/locales.ts: new RegExp(`^${spellings(code)}$`, 'u')":
    /^[Ss][Rr][_-][Rr][Ss][_-][Ll][Aa][Tt][Ii][Nn]$/u,
  'server/src/modules/tools/schema.ts: LOCALE_PATTERN': /^(af[_-]ZA|ar|en|en[_-]AU|en[_-]AU[_-]ocker)$/iu,
}

type Found = { path: string; line: number; source: string; flags: string }

/** Expressions without a sample, and the samples in use, filled by `regexesOf`. */
const unknown: string[] = []
const usedSamples = new Set<string>()

/** What a constant at the top of the same file is, or the expression itself. */
function initializerOf(node: ts.Expression, file: ts.SourceFile): ts.Expression {
  if (!ts.isIdentifier(node)) return node
  const declarations = file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => [...declarationList.declarations])
  return declarations.find(({ name }) => name.getText(file) === node.text)?.initializer ?? node
}

/** A string, or a template of strings. Undefined if it is known only at run time. */
function textOf(given: ts.Expression, file: ts.SourceFile): string | undefined {
  const node = initializerOf(given, file)
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isNumericLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  const parts = node.templateSpans.map(({ expression, literal }) => [textOf(expression, file), literal.text])
  return parts.every(([text]) => text !== undefined) ? node.head.text + parts.flat().join('') : undefined
}

const isRegExpCall = (node: ts.Node): node is ts.NewExpression | ts.CallExpression =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp'

/** The regular expressions of a file: literals, calls of `RegExp`, and the `pattern`s of schemas. */
function regexesOf(path: string, text: string): Found[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: Found[] = []
  const add = (node: ts.Node, source: string, flags: string) =>
    found.push({ path, line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, source, flags })
  const addText = (node: ts.Node, source: string | undefined, flags: string) => {
    if (source !== undefined) return add(node, source, flags)
    const key = `${path}: ${node.getText(file)}`
    const sample = BUILT[key]
    usedSamples.add(key)
    if (sample) add(node, sample.source, sample.flags)
    else unknown.push(key)
  }
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
      const literal = node.getText(file)
      const end = literal.lastIndexOf('/')
      add(node, literal.slice(1, end), literal.slice(end + 1))
    } else if (isRegExpCall(node)) {
      const [pattern, flags] = node.arguments ?? []
      addText(node, pattern && textOf(pattern, file), (flags && textOf(flags, file)) ?? '')
    } else if (ts.isPropertyAssignment(node) && node.name.getText(file) === 'pattern') {
      const value = initializerOf(node.initializer, file)
      if (!ts.isRegularExpressionLiteral(value)) addText(value, textOf(value, file), 'u')
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

const found = sourcesOf('server/src')
  .filter(({ path }) => !Object.keys(EXEMPT_FOLDERS).some((folder) => path.startsWith(folder)))
  .flatMap(({ path, text }) => regexesOf(path, text))

const literalOf = ({ source, flags }: Found) => `/${source}/${flags}`

/** The expressions that were linear in earlier runs. */
const readLinear = (): Set<string> => new Set(existsSync(LINEAR) ? readFileSync(LINEAR, 'utf8').split('\n') : [])

const escaped = (literal: string) => literal.replaceAll('\n', '\\n')

async function safetyOf(literals: Found[]): Promise<Map<string, string>> {
  const known = readLinear()
  const safety = new Map<string, string>()
  for (const regex of literals) {
    const literal = escaped(literalOf(regex))
    if (safety.has(literal) || literal in EXCEPTIONS) continue
    safety.set(literal, known.has(literal) ? 'linear' : await judge(regex))
  }
  return safety
}

/** `linear`, or what is wrong with the expression. */
async function judge({ source, flags }: Found): Promise<string> {
  // Loaded only for an expression that is new: the checker takes a third of a second to load.
  process.env.RECHECK_BACKEND = 'pure'
  const { checkSync } = await import('recheck')
  const result = checkSync(source, flags, { timeout: CHECK_TIMEOUT_MS, randomSeed: 1 })
  if (result.status === 'safe') return 'linear'
  if (result.status === 'unknown') return `not judged (${result.error.kind})`
  return `${result.complexity.summary.replace(' (fuzz)', '')}, for example ${result.attack.pattern}`.replaceAll(/[\t\n]/g, ' ')
}

test('no regular expression backtracks', { timeout: 600_000 }, async () => {
  const safety = await safetyOf(found)
  const wrong = found.flatMap((regex) => {
    const found = safety.get(escaped(literalOf(regex))) ?? 'linear'
    return found === 'linear' ? [] : [`${regex.path}:${regex.line} ${literalOf(regex)} is ${found}`]
  })
  expect.soft(wrong).toEqual([])
  const lines = [...safety]
    .filter(([, found]) => found === 'linear')
    .map(([literal]) => `${literal}\n`)
    .sort()
  await expect(lines.join('')).toMatchFileSnapshot(LINEAR.pathname)
})

test('every expression that is built has a sample', () => {
  expect(unknown).toEqual([])
  expect(Object.keys(BUILT).filter((key) => !usedSamples.has(key))).toEqual([])
})

test('no exception is left over', () => {
  const literals = new Set(found.map(literalOf))
  expect(Object.keys(EXCEPTIONS).filter((literal) => !literals.has(literal))).toEqual([])
})
