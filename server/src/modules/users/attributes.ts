import type { Caller } from '../../infra/runtime/ctx.ts'
import { atLeast, type Role } from '../../lib/roles.ts'

/** An entry of the attribute register (D-ATTR-1). */
export type AttributeRule = { key: string; min_role: string | null; is_hidden: boolean; is_end_user: boolean }

/** The part of `data` that the caller may see. Attributes that are not registered are visible to all. Hidden keys are left out. */
export function visibleData(data: Record<string, unknown>, rules: AttributeRule[], caller: Caller): Record<string, unknown> {
  const hidden = new Set(hiddenKeys(rules, caller))
  return hidden.size === 0 ? data : Object.fromEntries(Object.entries(data).filter(([key]) => !hidden.has(key)))
}

/** The keys of `data` that the caller may not see. */
export const hiddenKeys = (rules: AttributeRule[], caller: Caller): string[] =>
  rules.filter((rule) => !mayRead(rule, caller)).map(({ key }) => key)

function mayRead({ min_role, is_hidden, is_end_user }: AttributeRule, caller: Caller): boolean {
  switch (caller.kind) {
    case 'system':
      return true
    case 'user':
    case 'anonymous':
      return is_end_user
    case 'organisation':
      return !is_hidden
    case 'secret':
      return !is_hidden && (min_role === null || atLeast(caller.role, min_role as Role))
  }
}
