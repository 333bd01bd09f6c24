import type { Caller } from '../../infra/runtime/ctx.ts'
import { atLeast, type Role } from '../../lib/roles.ts'

/** An entry of the attribute register (D-ATTR-1). */
export type AttributeRule = {
  key: string
  min_role: string | null
  is_hidden: boolean
  is_end_user: boolean
  label: string | null
  is_personal: boolean
}

/** The lowest role that reads an attribute with personal data, unless the register names another one. */
const PERSONAL_MIN_ROLE: Role = 'editor'

/** The part of `data` that the caller may see. Attributes that are not registered are visible to all. Hidden keys are left out. */
export const visibleData = (data: Record<string, unknown>, rules: AttributeRule[], caller: Caller): Record<string, unknown> =>
  withoutKeys(data, new Set(hiddenKeys(rules, caller)))

export const withoutKeys = (data: Record<string, unknown>, hidden: Set<string>): Record<string, unknown> =>
  hidden.size === 0 ? data : Object.fromEntries(Object.entries(data).filter(([key]) => !hidden.has(key)))

/** The keys of `data` that the caller may not see. */
export const hiddenKeys = (rules: AttributeRule[], caller: Caller): string[] =>
  rules.filter((rule) => !mayRead(rule, caller)).map(({ key }) => key)

function mayRead({ min_role, is_hidden, is_end_user, is_personal }: AttributeRule, caller: Caller): boolean {
  switch (caller.kind) {
    case 'system':
      return true
    case 'user':
    case 'anonymous':
      return is_end_user && !is_hidden
    case 'organisation':
      return !is_hidden
    case 'secret': {
      const needed = (min_role as Role | null) ?? (is_personal ? PERSONAL_MIN_ROLE : null)
      return !is_hidden && (needed === null || atLeast(caller.role, needed))
    }
  }
}
