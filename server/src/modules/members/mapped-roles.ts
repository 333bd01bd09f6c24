/** Which roles the groups of an OpenID provider give. */
import { ORGANISATION_ROLES, type OrganisationRole, organisationAtLeast, ROLES, type Role } from '../../lib/roles.ts'

/** What a group gives: a role in the organisation, `member` unless it says otherwise, and roles in projects by their id. */
export type GroupRoles = { role?: OrganisationRole; projects?: Record<string, Role> }

export type MappedRoles = { role: OrganisationRole; projects: { project_id: number; role: Role }[] }

/** The roles of all groups together, the highest of each. Undefined when no group is in the mapping. */
export function mappedRoles(groups: readonly string[], mapping: Record<string, GroupRoles>): MappedRoles | undefined {
  const given = groups.filter((group) => Object.hasOwn(mapping, group)).map((group) => mapping[group] as GroupRoles)
  if (given.length === 0) return undefined
  const role = ORGANISATION_ROLES.findLast((name) => given.some(({ role = 'member' }) => organisationAtLeast(role, name))) ?? 'member'
  const projects = new Map<number, Role>()
  for (const [id, role] of given.flatMap(({ projects = {} }) => Object.entries(projects))) {
    const present = projects.get(Number(id))
    if (present === undefined || ROLES.indexOf(role) > ROLES.indexOf(present)) projects.set(Number(id), role)
  }
  return { role, projects: [...projects].map(([project_id, role]) => ({ project_id, role })) }
}

/** The groups of a claim: a name, or names, at the claim itself or at a path such as `realm_access.roles`. */
export function groupsOf(claims: Record<string, unknown>, claim: string): string[] {
  const found = Object.hasOwn(claims, claim) ? claims[claim] : claim.split('.').reduce<unknown>(memberOf, claims)
  return (Array.isArray(found) ? found : [found]).filter((group) => typeof group === 'string')
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
