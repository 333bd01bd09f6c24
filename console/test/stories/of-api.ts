/** What tells the replies of the API from those of other servers. A reply that a story gives instead has it too. */
export const OF_API = { 'service-version': '2026-11-20' }
