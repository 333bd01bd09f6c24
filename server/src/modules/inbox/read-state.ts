import type { MarkChanges, Marks } from './schema.ts'

/** What a change comes to: how the message is marked then, how many more are unread, and what was done for the first time. */
export type Marked = { marks: Marks; unread: -1 | 0 | 1; done: ('opened' | 'clicked')[] }

/** Applies what the reader did. Undefined when the message is so already; the first time of everything stays. */
export function changedReadState(before: Marks, { seen, read, clicked, archived }: MarkChanges, now: Date): Marked | undefined {
  const isRead = read ?? (clicked || before.read_at !== null)
  const marks: Marks = {
    seen_at: before.seen_at ?? (seen || read || clicked ? now : null),
    read_at: isRead ? (before.read_at ?? now) : null,
    clicked_at: before.clicked_at ?? (clicked ? now : null),
    archived_at: (archived ?? before.archived_at !== null) ? (before.archived_at ?? now) : null,
  }
  const names = ['seen_at', 'read_at', 'clicked_at', 'archived_at'] as const
  if (names.every((name) => marks[name] === before[name])) return undefined
  return {
    marks,
    unread: (Number(isUnread(marks)) - Number(isUnread(before))) as Marked['unread'],
    done: [
      ...(before.seen_at === null && marks.seen_at !== null ? (['opened'] as const) : []),
      ...(before.clicked_at === null && marks.clicked_at !== null ? (['clicked'] as const) : []),
    ],
  }
}

const isUnread = ({ read_at, archived_at }: Marks) => read_at === null && archived_at === null
