/** Roles by rights, lowest first (D-ROLE-1). `smtpproxy` is a machine role with the API rights of `support`. */
export const ROLES = ['support', 'smtpproxy', 'editor', 'publisher', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Roles in an organisation, lowest first (D-KEY-5). */
export const ORGANISATION_ROLES = ['member', 'admin', 'owner'] as const
export type OrganisationRole = (typeof ORGANISATION_ROLES)[number]

/** May somebody with `role` do what needs `needed`? */
export const atLeast = (role: Role, needed: Role): boolean => rights(role) >= rights(needed)

export const organisationAtLeast = (role: OrganisationRole, needed: OrganisationRole): boolean =>
  ORGANISATION_ROLES.indexOf(role) >= ORGANISATION_ROLES.indexOf(needed)

const rights = (role: Role) => (role === 'smtpproxy' ? ROLES.indexOf('support') : ROLES.indexOf(role))
