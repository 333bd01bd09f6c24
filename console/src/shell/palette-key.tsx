import { useHotkeys } from '@mantine/hooks'
import { Suspense, useEffect, useState } from 'react'
import { lazyPart } from '../parts/lazy-part.ts'
import type { SessionProject } from '../session/api.ts'

const OPEN = 'carillon:palette'

/** Opens the palette. */
export const openPalette = (): void => void window.dispatchEvent(new Event(OPEN))

const load = () => import('./palette.tsx')
const Palette = lazyPart(load, 'Palette')

/** ⌘K. The palette is loaded when it is opened for the first time. */
export function PaletteKey({ project }: { project: SessionProject }) {
  const [isWanted, setWanted] = useState(false)
  useHotkeys([['mod+K', openPalette]], [])
  useEffect(() => {
    const open = () => {
      setWanted(true)
      void load().then(({ showPalette }) => showPalette())
    }
    window.addEventListener(OPEN, open)
    return () => window.removeEventListener(OPEN, open)
  }, [])
  return (
    isWanted && (
      <Suspense>
        <Palette project={project} />
      </Suspense>
    )
  )
}
