/** Roles of keys, lowest first (D-ROLE-1). `smtpproxy` is for software that sends messages: it may call the routes that name it, and no others. */
export const ROLES = ['support', 'smtpproxy', 'editor', 'publisher', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Roles of organisation keys, lowest first (D-KEY-5). */
export const ORGANISATION_ROLES = ['member', 'admin', 'owner'] as const
export type OrganisationRole = (typeof ORGANISATION_ROLES)[number]

/** May `role` do what needs `needed`? */
export const atLeast = (role: Role, needed: Role): boolean => (role === 'smtpproxy' ? needed === 'smtpproxy' : rank(role) >= rank(needed))

export const organisationAtLeast = (role: OrganisationRole, needed: OrganisationRole): boolean =>
  ORGANISATION_ROLES.indexOf(role) >= ORGANISATION_ROLES.indexOf(needed)

const rank = (role: Role) => (role === 'smtpproxy' ? ROLES.indexOf('support') : ROLES.indexOf(role))
