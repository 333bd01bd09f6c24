import { Modal, Switch } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import type { SessionProject } from '../session/api.ts'
import type { Item } from './nav.ts'
import { addressOf, useNav } from './use-nav.ts'

const STORED = 'carillon.single-keys'
const OPEN = 'carillon:shortcuts'
const SECOND_KEY_MS = 1500

/** Opens the sheet of shortcuts. */
export const openShortcuts = (): void => void window.dispatchEvent(new Event(OPEN))

const areOn = () => localStorage.getItem(STORED) !== 'off'
const watchers = new Set<() => void>()
const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Whether single keys act (WCAG 2.1.4): software that types for its user sets them off by accident. */
function setOn(isOn: boolean) {
  localStorage.setItem(STORED, isOn ? 'on' : 'off')
  for (const watcher of watchers) watcher()
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** `?` opens the sheet, `g` and a second key open a screen. */
export function Shortcuts({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const { groups } = useNav(project)
  const items = groups.flatMap((group) => group.items).filter(({ key }) => key !== undefined)
  const isOn = useSyncExternalStore(watch, areOn)
  useEffect(() => {
    const open = () => setOpen(true)
    window.addEventListener(OPEN, open)
    return () => window.removeEventListener(OPEN, open)
  }, [])
  useKeys(project, items, isOn)
  return (
    <Modal opened={isOpen} onClose={() => setOpen(false)} title={t('shortcuts.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <dl className="keys">
        <Keys name={t('palette.open')} keys={['⌘ / Ctrl', 'K']} />
        <Keys name={t('shortcuts.open')} keys={['?']} />
        <Keys name={t('shortcuts.close')} keys={['Esc']} />
        {items.map((item) => (
          <Keys key={item.id} name={t(`nav.${item.id}`)} keys={['g', item.key ?? '']} />
        ))}
      </dl>
      <Switch
        mt="md"
        label={t('shortcuts.single')}
        description={t('shortcuts.singleAbout')}
        checked={isOn}
        onChange={(event) => setOn(event.currentTarget.checked)}
      />
    </Modal>
  )
}

function Keys({ name, keys }: { name: string; keys: string[] }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dd>
    </div>
  )
}

function useKeys(project: SessionProject, items: Item[], isOn: boolean) {
  const navigate = useNavigate()
  const startedAt = useRef(0)
  useEffect(() => {
    if (!isOn) return
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || document.querySelector('[role="dialog"]')) return
      if (event.key === '?') return openShortcuts()
      if (event.key === 'g') {
        startedAt.current = event.timeStamp
        return
      }
      const item = event.timeStamp - startedAt.current < SECOND_KEY_MS ? items.find(({ key }) => key === event.key) : undefined
      startedAt.current = 0
      if (item) void navigate({ to: addressOf(item, project) })
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [isOn, items, project, navigate])
}
