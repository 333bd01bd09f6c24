import type { ReactNode } from 'react'

type Tab = { id: string; label: ReactNode }
type Props = { label: string; tabs: Tab[]; current: string; onChange: (id: string) => void; isSmall?: boolean }

/** Tabs whose selection is in the URL. They are a group of buttons, because they change the whole screen. */
export function TabBar({ label, tabs, current, onChange, isSmall }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw and announce a form.
    <div className={isSmall ? 'seg' : 'tabs'} role="group" aria-label={label}>
      {tabs.map(({ id, label }) => (
        <button key={id} type="button" aria-pressed={id === current} onClick={() => onChange(id)}>
          {label}
        </button>
      ))}
    </div>
  )
}
