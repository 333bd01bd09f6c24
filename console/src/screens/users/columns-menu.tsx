import { Button, Checkbox, Popover, TextInput } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { namesOf } from '../../parts/attribute-paths.ts'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { COLUMNS_MAX, FIELDS, FIRST_COLUMNS, pathsInside, withToggled } from './chosen-columns.ts'
import { nameOfPath, type User } from './columns.tsx'

/** More would be slow to draw; the search finds the others. */
const OFFERED_MAX = 100

type Props = { chosen: readonly string[]; onChoose: (columns: readonly string[]) => void; users: User[] }

/** Chooses the columns of the list. */
export function ColumnsMenu(props: Props) {
  const { t } = useTranslation('users')
  return (
    <Popover position="bottom-end" trapFocus returnFocus width={320}>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns3 size={16} stroke={1.5} aria-hidden />}>
          {t('columns.open')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="columns">
        <Choices {...props} />
      </Popover.Dropdown>
    </Popover>
  )
}

function Choices({ chosen, onChoose, users }: Props) {
  const { t } = useTranslation('users')
  const [typed, setTyped] = useState('')
  const { data, error } = useRead('/api/client/schema/attributes', {})
  const found = [...(data?.results.map(({ key }) => key) ?? []), ...users.flatMap(({ data }) => pathsInside(data)), ...chosen]
  const attributes = [...new Set(found)].filter((path) => namesOf(path) !== null)
  const offered = attributes.filter((path) => path.toLowerCase().includes(typed.trim().toLowerCase()))
  const choice = (id: string, label: string) => (
    <Checkbox
      key={id}
      size="xs"
      label={label}
      checked={chosen.includes(id)}
      disabled={chosen.length >= COLUMNS_MAX && !chosen.includes(id)}
      onChange={() => onChoose(withToggled(chosen, id))}
    />
  )
  return (
    <>
      <fieldset>
        <legend>{t('columns.fields')}</legend>
        {FIELDS.map((id) => choice(id, t(`column.${id}`)))}
      </fieldset>
      <fieldset>
        <legend>{t('columns.attributes')}</legend>
        {error && <Failed error={error} />}
        <TextInput
          type="search"
          size="xs"
          aria-label={t('columns.search')}
          placeholder={t('columns.search')}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {offered.slice(0, OFFERED_MAX).map((path) => choice(path, nameOfPath(path)))}
        {data && offered.length === 0 && <p className="quiet xs">{t('columns.none')}</p>}
        {offered.length > OFFERED_MAX && <p className="quiet xs">{t('columns.more', { count: offered.length - OFFERED_MAX })}</p>}
      </fieldset>
      <p className="quiet xs">{t('columns.most', { count: COLUMNS_MAX })}</p>
      <Button variant="default" size="xs" onClick={() => onChoose(FIRST_COLUMNS)}>
        {t('columns.reset')}
      </Button>
    </>
  )
}
