import type { ReactNode } from 'react'
import { Bell } from '../../parts/bell.tsx'
import { useSetTitle } from '../../parts/title.ts'

/** The page around a screen before the sign-in: the logo, a heading and a card. */
export function Door({ title, about, children, foot }: { title: string; about?: ReactNode; children?: ReactNode; foot?: ReactNode }) {
  useSetTitle(title)
  return (
    <main className="door">
      <div className="brand">
        <Bell />
        Carillon
      </div>
      <div className="card pad">
        <h1>{title}</h1>
        {about && <p className="quiet sm">{about}</p>}
        {children}
      </div>
      {foot && <p className="sm quiet">{foot}</p>}
    </main>
  )
}

/** The token of a link that can be used once: it is behind the `#`, which browsers never send. */
export const tokenOf = (hash: string): string => new URLSearchParams(hash.replace(/^#/, '')).get('token') ?? ''
