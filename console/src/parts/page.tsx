import { type ReactNode, useEffect, useId, useRef } from 'react'
import { useSetTitle } from './title.ts'

type HeadProps = {
  title: string
  /** The name of an object, for the breadcrumb. */
  crumb?: string
  /** One line below the title. */
  about?: ReactNode
  /** At most one of them is primary. */
  actions?: ReactNode
  /** Before the title: a picture, a state. */
  mark?: ReactNode
}

let isFirstScreen = true

/** After a move to another screen the focus is on its heading, so that a screen reader says where one is. */
function useFocusOnMove() {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // A link may have been followed before the first screen was drawn; then it has the focus.
    if (!isFirstScreen || document.activeElement !== document.body) heading.current?.focus({ preventScroll: true })
    isFirstScreen = false
  }, [])
  return heading
}

/** The heading of a screen, which is also the title of the tab. */
export function PageHead({ title, crumb, about, actions, mark }: HeadProps) {
  useSetTitle(title, crumb)
  const heading = useFocusOnMove()
  return (
    <div className="head">
      {mark}
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {about && <p>{about}</p>}
      </div>
      {actions && <div className="acts">{actions}</div>}
    </div>
  )
}

type CardProps = { title?: ReactNode; aside?: ReactNode; actions?: ReactNode; footer?: ReactNode; children: ReactNode; className?: string }

/** A section with a heading. */
export function Card({ title, aside, actions, footer, children, className = '' }: CardProps) {
  const id = useId()
  return (
    <section className={`card ${className}`} {...(title ? { 'aria-labelledby': id } : {})}>
      {title && (
        <header>
          <h2 id={id}>{title}</h2>
          {aside && <span className="quiet sm">{aside}</span>}
          {actions && <div className="acts">{actions}</div>}
        </header>
      )}
      {children}
      {footer && <footer>{footer}</footer>}
    </section>
  )
}
