import { Button, Checkbox } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { GROUPS } from './event-types.ts'
import type { EventType } from './search.ts'
import './webhooks.css'

type Props = { value: EventType[]; onChange: (value: EventType[]) => void }

/** Chooses event types, group by group, each with what it means. */
export function EventPicker({ value, onChange }: Props) {
  const { t } = useTranslation('webhooks')
  return (
    <div className="event-types">
      {GROUPS.map(([group, types]) => {
        const others = value.filter((type) => !types.includes(type))
        const hasAll = types.every((type) => value.includes(type))
        return (
          <fieldset key={group}>
            <legend>{t(`group.${group}`)}</legend>
            <Button
              size="compact-xs"
              variant="default"
              aria-label={t(hasAll ? 'events.noneOf' : 'events.allOf', { group: t(`group.${group}`) })}
              onClick={() => onChange(hasAll ? others : [...others, ...types])}
            >
              {t(hasAll ? 'events.none' : 'events.all')}
            </Button>
            {types.map((type) => (
              <Checkbox
                key={type}
                label={<code>{type}</code>}
                description={t(`event.${type}`)}
                checked={value.includes(type)}
                onChange={(event) => onChange(event.currentTarget.checked ? [...value, type] : value.filter((chosen) => chosen !== type))}
              />
            ))}
          </fieldset>
        )
      })}
    </div>
  )
}

/** The event types that an endpoint gets, each with what it means. */
export function SubscribedEvents({ types }: { types: EventType[] }) {
  const { t } = useTranslation('webhooks')
  return (
    <div className="event-types pad">
      {GROUPS.map(([group, all]) => {
        const chosen = all.filter((type) => types.includes(type))
        return (
          chosen.length > 0 && (
            <section key={group}>
              <h3>{t(`group.${group}`)}</h3>
              <dl>
                {chosen.map((type) => (
                  <div key={type}>
                    <dt>
                      <code>{type}</code>
                    </dt>
                    <dd className="quiet xs">{t(`event.${type}`)}</dd>
                  </div>
                ))}
              </dl>
            </section>
          )
        )
      })}
    </div>
  )
}
