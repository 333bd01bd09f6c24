import { useLocation } from '@tanstack/react-router'
import type { SessionProject } from '../session/api.ts'
import { atLeast, useSession } from '../session/index.ts'
import { type Group, type Item, NAV } from './nav.ts'

export type ShownGroup = Omit<Group, 'items'> & { items: Item[]; isCurrent: boolean }

/** The address of an item in a project. */
export const addressOf = ({ path }: Item, project: SessionProject): string => path.replace('$project', String(project.id))

const isBelow = (address: string, path: string) => path === address || path.startsWith(`${address}/`)

/** The item whose screen is open: the one with the longest address. */
function currentItem(items: Item[], project: SessionProject, path: string): Item | undefined {
  return items.filter((item) => isBelow(addressOf(item, project), path)).toSorted((a, b) => b.path.length - a.path.length)[0]
}

/** The groups of the rail with the items that the member may use. Groups without an item are left out. */
export function useNav(project: SessionProject): { groups: ShownGroup[]; current: Item | undefined } {
  const { pathname } = useLocation()
  const { role } = useSession()
  const groups = NAV.map((group) => ({
    ...group,
    items: group.items.filter(({ needs, isForOwners }) => (!needs || atLeast(project.role, needs)) && (!isForOwners || role === 'owner')),
  })).filter(({ items }) => items.length > 0)
  const current = currentItem(
    groups.flatMap(({ items }) => items),
    project,
    pathname,
  )
  return { groups: groups.map((group) => ({ ...group, isCurrent: current !== undefined && group.items.includes(current) })), current }
}
