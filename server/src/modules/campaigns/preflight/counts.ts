/** Adds up what a preflight has found so far. Pure. */
import type { UserId } from '../../../lib/ids.ts'
import type { PreflightResult } from './preflight-message.ts'
import type { Count, Problem } from './schema.ts'

const PROBLEMS_MAX = 100
const EXAMPLES_MAX = 100
const EXAMPLES_EACH_MAX = 10

export type Findings = { counts: Count[]; problems: Problem[] }

/** The preflight result of one user, with the template used. */
export type PreflightTry = PreflightResult & { userId: UserId; locale: string | null; variant: number }

/** The findings with the results of more users added. */
export function withFound({ counts, problems }: Findings, tried: PreflightTry[]): Findings {
  const counted = new Map(counts.map((count) => [nameOf(count), { ...count }]))
  const known = new Map(problems.map((problem) => [keyOf(problem), { ...problem, user_ids: [...problem.user_ids] }]))
  let examples = problems.reduce((sum, { user_ids }) => sum + user_ids.length, 0)
  for (const { outcome, problems, userId, locale, variant } of tried) {
    const count = counted.get(nameOf(outcome)) ?? { ...outcome, people: 0 }
    count.people++
    counted.set(nameOf(outcome), count)
    for (const { kind, message } of problems) {
      const fresh = { locale, variant, kind, message, people: 0, user_ids: [] }
      const problem = known.get(keyOf(fresh)) ?? fresh
      if (problem === fresh && known.size >= PROBLEMS_MAX) continue
      known.set(keyOf(problem), problem)
      problem.people++
      if (examples >= EXAMPLES_MAX || problem.user_ids.length >= EXAMPLES_EACH_MAX) continue
      problem.user_ids.push(userId)
      examples++
    }
  }
  return { counts: [...counted.values()], problems: [...known.values()] }
}

const nameOf = ({ state, reason }: Omit<Count, 'people'>) => `${state} ${reason}`

const keyOf = ({ locale, variant, kind, message }: Problem) => JSON.stringify([locale, variant, kind, message])
