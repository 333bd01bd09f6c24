import { useNavigate, useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & { to: string }

/**
 * A link of the navigation. The parent decides which link is current, because a screen below another belongs to the item of that screen.
 */
export function NavLink({ to, onClick, ...rest }: Props) {
  const navigate = useNavigate()
  const router = useRouter()
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void navigate({ to })
  }
  return <a {...rest} href={to} onClick={follow} onMouseEnter={() => void router.preloadRoute({ to }).catch(() => undefined)} />
}
