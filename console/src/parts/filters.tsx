import { Menu, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconPlus, IconSearch, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { received, withSent } from './sent-searches.ts'

const TYPED_MS = 250

type SearchProps = { label: string; value: string; onChange: (value: string) => void; example?: string }

/** The search of a list. The address follows what is typed. */
export function SearchBox({ label, value, onChange, example }: SearchProps) {
  const [typed, setTyped] = useState(value)
  const sent = useRef<string[]>([])
  const send = useDebouncedCallback((text: string) => {
    sent.current = withSent(sent.current, text)
    onChange(text)
  }, TYPED_MS)
  useEffect(() => {
    const { isOwn, sent: left } = received(sent.current, value)
    sent.current = left
    if (!isOwn) setTyped(value)
  }, [value])
  return (
    <TextInput
      type="search"
      className="search"
      aria-label={label}
      placeholder={example ?? label}
      leftSection={<IconSearch size={16} stroke={1.5} aria-hidden />}
      value={typed}
      // What follows a click elsewhere must not be undone by a search that comes late.
      onBlur={() => send.flush()}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        send(event.currentTarget.value)
      }}
    />
  )
}

/** A filter with a fixed set of values. */
export type Filter = { id: string; label: string; values: { value: string; label: string }[] }

type Props = { filters: Filter[]; chosen: Record<string, string | undefined>; onChange: (id: string, value: string | undefined) => void }

/** The filters of a list as buttons: each shows its value, and is removed by its cross. */
export function FilterChips({ filters, chosen, onChange }: Props) {
  const { t } = useTranslation()
  const set = filters.filter(({ id }) => chosen[id] !== undefined)
  const unset = filters.filter(({ id }) => chosen[id] === undefined)
  return (
    <div className="filters">
      {set.map(({ id, label, values }) => {
        const value = values.find(({ value }) => value === chosen[id])?.label ?? chosen[id]
        return (
          <button
            key={id}
            type="button"
            className="filter"
            onClick={() => onChange(id, undefined)}
            aria-label={t('removeFilter', { label, value })}
          >
            {label}: <b>{value}</b>
            <IconX size={14} stroke={1.75} aria-hidden />
          </button>
        )
      })}
      {unset.map(({ id, label, values }) => (
        <Menu key={id} position="bottom-start">
          <Menu.Target>
            <button type="button" className="filter add">
              <IconPlus size={14} stroke={1.75} aria-hidden />
              {label}
            </button>
          </Menu.Target>
          <Menu.Dropdown className="filter-menu">
            {values.map(({ value, label }) => (
              <Menu.Item key={value} onClick={() => onChange(id, value)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      ))}
    </div>
  )
}
