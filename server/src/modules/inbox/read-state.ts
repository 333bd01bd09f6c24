import type { ReadState, ReadStateChanges } from './schema.ts'

/** The effect of a change: the new read state, the change of the unread count, and what the user did for the first time. */
export type ReadStateUpdate = { readState: ReadState; unread: -1 | 0 | 1; done: ('opened' | 'clicked')[] }

/** Applies a change to a read state. Undefined if nothing changes. The times of first actions are kept. */
export function changedReadState(
  before: ReadState,
  { seen, read, clicked, archived }: ReadStateChanges,
  now: Date,
): ReadStateUpdate | undefined {
  const isRead = read ?? (clicked || before.read_at !== null)
  const readState: ReadState = {
    seen_at: before.seen_at ?? (seen || read || clicked ? now : null),
    read_at: isRead ? (before.read_at ?? now) : null,
    clicked_at: before.clicked_at ?? (clicked ? now : null),
    archived_at: (archived ?? before.archived_at !== null) ? (before.archived_at ?? now) : null,
  }
  const names = ['seen_at', 'read_at', 'clicked_at', 'archived_at'] as const
  if (names.every((name) => readState[name] === before[name])) return undefined
  return {
    readState,
    unread: (Number(isUnread(readState)) - Number(isUnread(before))) as ReadStateUpdate['unread'],
    done: [
      ...(before.seen_at === null && readState.seen_at !== null ? (['opened'] as const) : []),
      ...(before.clicked_at === null && readState.clicked_at !== null ? (['clicked'] as const) : []),
    ],
  }
}

const isUnread = ({ read_at, archived_at }: ReadState) => read_at === null && archived_at === null
