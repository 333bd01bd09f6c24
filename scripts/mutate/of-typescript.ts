/** Changes in TypeScript, with a function for each kind of node. The name of an edit describes the change. */
import ts from 'typescript'
import { type Edit, editsOfSql } from './of-sql.ts'

type Make = (node: ts.Node, source: ts.SourceFile) => Edit[]

/** Code that is not changed: types, imports, log lines, examples (which are tests themselves) and checks of invariants. */
export function isLeftAlone(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return true
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isSatisfiesExpression(node)) return true
  if (ts.isPropertyAssignment(node)) return node.name.getText() === 'examples'
  if (ts.isExpressionStatement(node)) return /^(\w+\.)*log\.\w+\(/.test(node.getText())
  return isInvariant(node)
}

/** `if (!row) throw new Error(…)`, which is only thrown for bugs. */
const isInvariant = (node: ts.Node) => ts.isIfStatement(node) && /^if \(!\w+\) throw new Error\(/.test(node.getText())

export const editsOfNode: Make = (node, source) => MAKERS.flatMap((make) => make(node, source))

const replaced = (kind: string, node: ts.Node, replacement: string): Edit => ({
  kind,
  start: node.getStart(),
  end: node.getEnd(),
  replacement,
})

const COMPARISONS: Partial<Record<ts.SyntaxKind, [kind: string, replacement: string]>> = {
  [ts.SyntaxKind.LessThanToken]: ['boundary', '<='],
  [ts.SyntaxKind.LessThanEqualsToken]: ['boundary', '<'],
  [ts.SyntaxKind.GreaterThanToken]: ['boundary', '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken]: ['boundary', '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ['equality', '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ['equality', '==='],
  [ts.SyntaxKind.MinusToken]: ['arithmetic', '+'],
  [ts.SyntaxKind.AsteriskToken]: ['arithmetic', '/'],
  [ts.SyntaxKind.SlashToken]: ['arithmetic', '*'],
  [ts.SyntaxKind.PlusEqualsToken]: ['arithmetic', '-='],
  [ts.SyntaxKind.MinusEqualsToken]: ['arithmetic', '+='],
}

const isText = (node: ts.Node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)

const operators: Make = (node) => {
  if (!ts.isBinaryExpression(node)) return []
  const { operatorToken, left, right } = node
  const isSum = operatorToken.kind === ts.SyntaxKind.PlusToken && !isText(left) && !isText(right)
  const [kind, replacement] = isSum ? ['arithmetic', '-'] : (COMPARISONS[operatorToken.kind] ?? [])
  return kind !== undefined && replacement !== undefined ? [replaced(kind, operatorToken, replacement)] : []
}

const JUNCTIONS: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.AmpersandAmpersandToken]: '&&',
  [ts.SyntaxKind.BarBarToken]: '||',
  [ts.SyntaxKind.QuestionQuestionToken]: '??',
}

/**
 * Removes each operand of a chain. A test that fails for one of these also fails for `&&` instead of `||`, so there is no mutant
 * for that.
 */
const junctions: Make = (node) => {
  if (!ts.isBinaryExpression(node)) return []
  const { kind } = node.operatorToken
  const sign = JUNCTIONS[kind]
  if (!sign || isChained(node.parent, kind)) return []
  const operands = operandsOf(node, kind)
  return operands.map((operand, index) => {
    const [next, before] = [operands[index + 1], operands[index - 1]]
    const [start, end] = before ? [before.getEnd(), operand.getEnd()] : [operand.getStart(), next?.getStart() ?? operand.getEnd()]
    return { kind: `operand of ${sign}`, start, end, replacement: '' }
  })
}

const isChained = (node: ts.Node, kind: ts.SyntaxKind): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === kind

const operandsOf = (node: ts.Node, kind: ts.SyntaxKind): ts.Node[] =>
  isChained(node, kind) ? [...operandsOf(node.left, kind), ...operandsOf(node.right, kind)] : [node]

/** Negates a condition, unless another kind does the same: `!a` becomes `a`, and `a === b` becomes `a !== b`. */
function negated(condition: ts.Expression): Edit[] {
  const isEquality = ts.isBinaryExpression(condition) && COMPARISONS[condition.operatorToken.kind]?.[0] === 'equality'
  const isNegation = ts.isPrefixUnaryExpression(condition) && condition.operator === ts.SyntaxKind.ExclamationToken
  return isEquality || isNegation ? [] : [replaced('condition negated', condition, `!(${condition.getText()})`)]
}

const conditions: Make = (node) => {
  if (ts.isWhileStatement(node)) return [replaced('loop skipped', node.expression, 'false')]
  if (ts.isConditionalExpression(node)) return negated(node.condition)
  if (!ts.isIfStatement(node)) return []
  const guard = !node.elseStatement && leaves(node.thenStatement) ? [replaced('guard removed', node, ';')] : []
  return [...negated(node.expression), ...guard]
}

function leaves(statement: ts.Statement): boolean {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement
  return !!last && (ts.isReturnStatement(last) || ts.isThrowStatement(last) || ts.isContinueStatement(last) || ts.isBreakStatement(last))
}

const prefixes: Make = (node) => {
  if (!ts.isPrefixUnaryExpression(node) && !ts.isPostfixUnaryExpression(node)) return []
  const rest = node.operand.getText()
  switch (node.operator) {
    case ts.SyntaxKind.ExclamationToken:
      return [replaced('negation removed', node, rest)]
    case ts.SyntaxKind.PlusPlusToken:
      return [replaced('arithmetic', node, node.getText().replace('++', '--'))]
    case ts.SyntaxKind.MinusMinusToken:
      return [replaced('arithmetic', node, node.getText().replace('--', '++'))]
    default:
      return []
  }
}

const literals: Make = (node) => {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replaced('literal', node, 'false')]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replaced('literal', node, 'true')]
  if (!ts.isNumericLiteral(node)) return []
  return [replaced('literal', node, String(Number(node.text) + 1))]
}

const statements: Make = (node) => {
  if (!ts.isExpressionStatement(node)) return []
  return [replaced('statement removed', node, ';')]
}

/** Removes an element with one comma. */
function without(kind: string, elements: readonly ts.Node[], index: number): Edit {
  const [element, next, before] = [elements[index] as ts.Node, elements[index + 1], elements[index - 1]]
  const start = next || !before ? element.getStart() : before.getEnd()
  return { kind, start, end: next ? next.getStart() : element.getEnd(), replacement: '' }
}

const elements: Make = (node) => {
  if (!ts.isArrayLiteralExpression(node)) return []
  return node.elements.map((_, index) => without('element removed', node.elements, index))
}

/** Removes members of objects with a spread. The compiler finds the others. */
const members: Make = (node) => {
  if (!ts.isObjectLiteralExpression(node) || !node.properties.some(ts.isSpreadAssignment)) return []
  return node.properties.map((_, index) => without('member removed', node.properties, index))
}

const defaults: Make = (node) => {
  if (!(ts.isBindingElement(node) || ts.isParameter(node)) || !node.initializer) return []
  const before = ts.isParameter(node) ? (node.type ?? node.name) : node.name
  return [{ kind: 'default removed', start: before.getEnd(), end: node.initializer.getEnd(), replacement: '' }]
}

const SWAPPED: Record<string, string> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}
const DROPPED = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice', 'trim', 'toLowerCase', 'toUpperCase', 'normalize'])

const calls: Make = (node) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  const { name, expression } = node.expression
  const swapped = SWAPPED[name.text]
  if (swapped) return [replaced('call changed', name, swapped)]
  return DROPPED.has(name.text) ? [{ kind: 'call removed', start: expression.getEnd(), end: node.getEnd(), replacement: '' }] : []
}

/** SQL is changed as text. Code in `${}` is changed like other code. */
const templates: Make = (node, source) => {
  if (!ts.isTaggedTemplateExpression(node) || node.tag.getText() !== 'sql') return []
  const { template } = node
  const start = template.getStart() + 1
  const spans = ts.isTemplateExpression(template) ? template.templateSpans : []
  const holes = spans.map(({ expression, literal }) => ({
    start: expression.getFullStart() - '${'.length - start,
    end: literal.getStart() + '}'.length - start,
  }))
  const text = source.text.slice(start, template.getEnd() - 1)
  return editsOfSql(text, holes).map((edit) => ({ ...edit, kind: `SQL, ${edit.kind}`, start: edit.start + start, end: edit.end + start }))
}

const MAKERS = [operators, junctions, conditions, prefixes, literals, statements, elements, members, defaults, calls, templates]
