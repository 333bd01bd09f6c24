/** What the kinds that change something have in common. Pure. */
import { DEFAULT_PATH, type Decision, type EffectResult, type Path } from './step.ts'

/** Users take the default path, or by `failed` if the effect was refused. */
export const EFFECT_PATHS: Path[] = [
  { path: DEFAULT_PATH, isRequired: false },
  { path: 'failed', isRequired: false },
]

/** Where users go after an effect. */
export function afterEffect(result: EffectResult): Decision {
  if (result.is !== 'refused') return { is: 'go', path: DEFAULT_PATH, reason: (result.is === 'applied' && result.note) || 'applied' }
  return { is: 'go', path: 'failed', reason: result.reason, ...(result.detail !== undefined && { seen: { problem: result.detail } }) }
}
