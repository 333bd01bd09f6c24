import { CloseButton } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

type Props = {
  label: string
  heading: ReactNode
  /** The heading gets the focus once what is open was read. */
  isRead: boolean
  /** Below the heading: the state. */
  state?: ReactNode
  actions?: ReactNode
  onClose: () => void
  children: ReactNode
}

/** Shows one item of a list, beside the list. Escape closes it. */
export function Drawer({ label, heading, isRead, state, actions, onClose, children }: Props) {
  const { t } = useTranslation()
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isRead) title.current?.focus()
  }, [isRead])
  return (
    <aside
      className="drawer"
      aria-label={label}
      onKeyDown={({ key, defaultPrevented }) => {
        if (key === 'Escape' && !defaultPrevented) onClose()
      }}
    >
      <header>
        <div>
          <h2 ref={title} tabIndex={-1} className="focus-quiet">
            {heading}
          </h2>
          {state}
        </div>
        {actions}
        <CloseButton aria-label={t('close')} onClick={onClose} />
      </header>
      {children}
    </aside>
  )
}
