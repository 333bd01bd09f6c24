/** A secret is compared in constant time: `===` tells by its duration how much of a guess is right. */
import ts from 'typescript'
import { expect, test } from 'vitest'
import { settings } from '../../src/infra/runtime/settings.ts'
import { sourcesOf } from './sources.ts'

const SECRETS = Object.entries(settings).flatMap(([name, { secret }]) => (secret ? [name] : []))
const EQUALITY = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
])

function comparisonsIn(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && EQUALITY.has(node.operatorToken.kind)) {
      const [left, right] = [node.left.getText(file), node.right.getText(file)]
      const isPresence = [left, right].some((side) => side === 'undefined' || side === 'null') || /\.length$/.test(left)
      if (!isPresence && SECRETS.some((name) => left.includes(name) || right.includes(name))) found.push(`${path}: ${node.getText(file)}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

test('no secret setting is compared with ===', () => {
  expect(SECRETS).toContain('METRICS_TOKEN')
  expect(sourcesOf('server/src').flatMap(({ path, text }) => comparisonsIn(path, text))).toEqual([])
})
