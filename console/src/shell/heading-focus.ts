import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** After a move to another screen the focus is on its heading, so that a screen reader says where one is. */
export function useHeadingFocus(): void {
  const { pathname } = useLocation()
  const previous = useRef(pathname)
  useEffect(() => {
    if (previous.current === pathname) return
    previous.current = pathname
    const heading = document.querySelector<HTMLElement>('main h1') ?? document.getElementById('main')
    heading?.setAttribute('tabindex', '-1')
    heading?.focus({ preventScroll: true })
  }, [pathname])
}
