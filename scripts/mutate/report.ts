/** The report of a run, as Markdown. */
import { cpus, totalmem } from 'node:os'
import type { Mutant } from './mutants.ts'

export type MutantStatus = 'killed' | 'timed out' | 'survived' | 'invalid'

/**
 * The results of one file. `possible` is the number of all its mutants, `testSeconds` the duration of its tests without a change, and
 * `failure` the reason if none was tested, or not by all tests.
 */
export type FileResult = {
  file: string
  possible: number
  testSeconds: number
  results: { mutant: Mutant; status: MutantStatus; seconds: number }[]
  failure: string | null
}

export type Run = { date: string; commit: string; options: string; minutes: number; files: FileResult[] }

const count = ({ results }: FileResult, status: MutantStatus): number => results.filter((one) => one.status === status).length

const isTested = ({ status }: FileResult['results'][number]): boolean => status !== 'invalid'
const tested = ({ results }: FileResult): number => results.filter(isTested).length

const noticed = (file: FileResult): number => count(file, 'killed') + count(file, 'timed out')

/** The share of the mutants that compile for which a test failed. */
function score(files: FileResult[]): string {
  const [found, missed] = [sum(files.map(noticed)), sum(files.map((file) => count(file, 'survived')))]
  return found + missed === 0 ? '–' : `${Math.floor((100 * found) / (found + missed))} %`
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)

const secondsEach = (file: FileResult): string =>
  tested(file) === 0 ? '–' : (sum(file.results.filter(isTested).map(({ seconds }) => seconds)) / tested(file)).toFixed(1)

/** A line about a file, for the terminal. */
export function lineOf(result: FileResult): string {
  const parts = (['killed', 'timed out', 'survived', 'invalid'] as const).map((status) => `${count(result, status)} ${status}`)
  const times = `${secondsEach(result)} s each, ${result.testSeconds.toFixed(1)} s without a change`
  const failure = result.failure === null ? '' : ` ${result.failure}`
  return `${result.file}: ${tested(result)} of ${result.possible} mutants, ${parts.join(', ')}; ${score([result])}; ${times}.${failure}`
}

export const survivedLine = (file: string, { line, change }: Mutant): string => `${file}:${line}: ${change}`

export function markdownOf({ date, commit, options, minutes, files }: Run): string {
  const host = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  const survived = files.flatMap(({ file, results }) =>
    results.filter(({ status }) => status === 'survived').map(({ mutant }) => `- ${survivedLine(file, mutant)}`),
  )
  const failures = files.flatMap(({ file, failure }) => (failure === null ? [] : [`- ${file}: ${failure}`]))
  return [
    `# Mutation run, ${date}, commit ${commit}`,
    '',
    `${host}. \`npm run mutate${options === '' ? '' : ` -- ${options}`}\` took ${minutes.toFixed(0)} min.`,
    '',
    'Killed: a test failed. Timed out: the tests did not end, which counts as killed. Survived: every test passed. Invalid: it',
    'does not compile, and is replaced by another. The score is the share of killed mutants among those that compile.',
    '',
    '| File | Possible | Tested | Killed | Timed out | Survived | Invalid | Score | Seconds each |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...files.map(rowOf),
    `| All | ${[sum(files.map(({ possible }) => possible)), ...totals(files)].join(' | ')} | ${score(files)} | |`,
    ...(failures.length > 0 ? ['', '## Tests that failed without a change', '', ...failures] : []),
    '',
    '## Survived',
    '',
    ...(survived.length > 0 ? survived : ['None.']),
    '',
  ].join('\n')
}

const rowOf = (result: FileResult): string =>
  `| ${result.file} | ${[result.possible, ...totals([result])].join(' | ')} | ${score([result])} | ${secondsEach(result)} |`

const totals = (files: FileResult[]): number[] => [
  sum(files.map(tested)),
  ...(['killed', 'timed out', 'survived', 'invalid'] as const).map((status) => sum(files.map((file) => count(file, status)))),
]
