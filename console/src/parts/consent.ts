type Consent = { is_transactional: boolean; state: number; requires_confirmation: boolean }

/** Does a user get messages of a subscription type? Where it requires confirmation, only after confirming. */
export const isAgreed = ({ is_transactional, state, requires_confirmation }: Consent): boolean =>
  is_transactional || state >= (requires_confirmation ? 2 : 1)
