import type { ReactNode } from 'react'

/** A message as devices show it. */
export const NoteText = ({ title, body, children }: { title: string; body: string; children?: ReactNode }) => (
  <div className="note" dir="auto">
    {title && (
      <p>
        <b>{title}</b>
      </p>
    )}
    {body && <p>{body}</p>}
    {children}
  </div>
)
