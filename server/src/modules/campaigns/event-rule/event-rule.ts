/** The rule of a trigger, asked with the words of lists. Pure. */
import type { Static } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { type CompiledRule, checkRule, compileRule, type EventTest, matchesTracker } from '../../segments/index.ts'
import type { EventRule as EventRuleSchema } from './schema.ts'

export type EventRule = Static<typeof EventRuleSchema>

const PARAM = 'event_rule'

/** The tests as a condition on an event, which is what lists know. Its name does not matter: it is that of the campaign. */
const asCondition = (where: EventTest[]) => ({ event: 'event', where })

/** What is wrong with a rule of the right shape. */
export function eventRuleFaults({ where, user }: EventRule): Fault[] {
  if (where === undefined && user === undefined) {
    return [{ code: 'parameter_missing', param: PARAM, message: `In \`${PARAM}\` one of \`where\`, \`user\` is missing.` }]
  }
  return [
    ...(where === undefined ? [] : checkRule(asCondition(where), PARAM)),
    ...(user === undefined ? [] : checkRule(user, `${PARAM}.user`)),
  ]
}

export type CompiledEventRule = {
  /** Is this an event to fire on, by what it carries? */
  passes(data: Record<string, unknown>, nowMs: number): boolean
  /** What must be so of the person; null when everybody may. */
  person: CompiledRule | null
}

/** Makes a rule that was checked ready to be asked about many events. */
export function compileEventRule({ where, user }: EventRule): CompiledEventRule {
  const tracker = where === undefined ? undefined : compileRule(asCondition(where)).trackers[0]
  return {
    passes: (data, nowMs) => tracker === undefined || matchesTracker(tracker, { name: 'event', data, createdAtMs: nowMs }, nowMs),
    person: user === undefined ? null : compileRule(user),
  }
}
