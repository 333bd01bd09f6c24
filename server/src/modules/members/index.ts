/**
 * Members of an organisation, who sign in to the console. Owns `members`, `member_roles`, `member_sessions`, `member_links`, `member_mails`, `member_recovery_codes`,
 * `member_passkeys`, `member_challenges`, `member_identities`, `sign_in_redirects` and `sign_in_failures`.
 * Promises: only hashes of passwords, session tokens and links are stored; a member who was removed is signed out at once;
 * a sign-in never tells whether an address belongs to a member.
 */
export { memberJobs } from './jobs.ts'
export { insertLink } from './links.queries.ts'
export { canMail, submit as submitToMember } from './mails.ts'
export { hashPassword } from './passwords.ts'
export { operatorLink } from './profile.ts'
export { insertMember } from './queries.ts'
export { memberRoutes } from './routes.ts'
export { isMemberOfProject, memberCredential, readableProjects } from './service.ts'
export { peekSession, sessionOf } from './sessions.ts'
export { ownerLink } from './sign-in.ts'
