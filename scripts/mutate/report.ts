/** The report of a run, as Markdown. */
import { cpus, totalmem } from 'node:os'
import type { Mutant } from './mutants.ts'

export type Verdict = 'killed' | 'timed out' | 'survived' | 'invalid'

/**
 * The results of one file. `possible` is the number of all its mutants, `testSeconds` the duration of its tests without a change, and
 * `failure` the reason if none was tested.
 */
export type FileResult = {
  file: string
  possible: number
  testSeconds: number
  verdicts: { mutant: Mutant; verdict: Verdict; seconds: number }[]
  failure: string | null
}

export type Run = { date: string; commit: string; options: string; minutes: number; files: FileResult[] }

const count = ({ verdicts }: FileResult, verdict: Verdict): number => verdicts.filter((one) => one.verdict === verdict).length

const noticed = (file: FileResult): number => count(file, 'killed') + count(file, 'timed out')

/** The share of the mutants that compile for which a test failed. */
function score(files: FileResult[]): string {
  const [found, missed] = [sum(files.map(noticed)), sum(files.map((file) => count(file, 'survived')))]
  return found + missed === 0 ? '–' : `${Math.floor((100 * found) / (found + missed))} %`
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)

const secondsEach = ({ verdicts }: FileResult): string =>
  verdicts.length === 0 ? '–' : (sum(verdicts.map(({ seconds }) => seconds)) / verdicts.length).toFixed(1)

/** A line about a file, for the terminal. */
export function lineOf(result: FileResult): string {
  if (result.failure !== null) return `${result.file}: not tested. ${result.failure}`
  const parts = (['killed', 'timed out', 'survived', 'invalid'] as const).map((verdict) => `${count(result, verdict)} ${verdict}`)
  const times = `${secondsEach(result)} s each, ${result.testSeconds.toFixed(1)} s without a change`
  return `${result.file}: ${result.verdicts.length} of ${result.possible} mutants, ${parts.join(', ')}; ${score([result])}; ${times}`
}

export const survivorLine = (file: string, { line, change }: Mutant): string => `${file}:${line}: ${change}`

export function markdownOf({ date, commit, options, minutes, files }: Run): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  const survivors = files.flatMap(({ file, verdicts }) =>
    verdicts.filter(({ verdict }) => verdict === 'survived').map(({ mutant }) => `- ${survivorLine(file, mutant)}`),
  )
  const failures = files.flatMap(({ file, failure }) => (failure === null ? [] : [`- ${file}: ${failure}`]))
  return [
    `# Mutation run, ${date}, commit ${commit}`,
    '',
    `${machine}. \`npm run mutate${options === '' ? '' : ` -- ${options}`}\` took ${minutes.toFixed(0)} min.`,
    '',
    'Killed: a test failed. Timed out: the tests did not end, which counts as killed. Survived: every test passed. Invalid: it',
    'does not compile. The score is the share of killed mutants among those that compile.',
    '',
    '| File | Possible | Tested | Killed | Timed out | Survived | Invalid | Score | Seconds each |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...files.filter(({ failure }) => failure === null).map(rowOf),
    `| All | ${[sum(files.map(({ possible }) => possible)), ...totals(files)].join(' | ')} | ${score(files)} | |`,
    ...(failures.length > 0 ? ['', '## Not tested', '', ...failures] : []),
    '',
    '## Survivors',
    '',
    ...(survivors.length > 0 ? survivors : ['None.']),
    '',
  ].join('\n')
}

const rowOf = (result: FileResult): string =>
  `| ${result.file} | ${[result.possible, ...totals([result])].join(' | ')} | ${score([result])} | ${secondsEach(result)} |`

const totals = (files: FileResult[]): number[] => [
  sum(files.map(({ verdicts }) => verdicts.length)),
  ...(['killed', 'timed out', 'survived', 'invalid'] as const).map((verdict) => sum(files.map((file) => count(file, verdict)))),
]
