/** Checks domains in the DNS again. */
export const CHECK = { name: 'domains.check' }
