import { NumberInput, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { useWrite } from '../../parts/data.ts'
import { Tool } from './tool.tsx'

const KINDS = ['contact', 'lorem', 'commerce', 'food'] as const
type Kind = (typeof KINDS)[number]

const COUNT = 3
const COUNT_MAX = 100

/** Made-up data to try things with. */
export function Generators() {
  const { t } = useTranslation('tools')
  const [kind, setKind] = useState<Kind>('contact')
  const [count, setCount] = useState<string | number>(COUNT)
  const [seed, setSeed] = useState('')
  const call = useWrite(
    (api) => api.post(`/api/ext/generic/data/generate/${kind}`, { body: { count: String(count), ...(seed !== '' && { seed }) } }),
    [],
  )
  return (
    <Tool
      title={t('generate.title')}
      about={t('generate.about')}
      action={t('generate.action')}
      call={call}
      result={({ data }) => <Code text={JSON.stringify(data, null, 2)} label="JSON" />}
    >
      <Select
        label={t('generate.kind')}
        allowDeselect={false}
        data={KINDS.map((value) => ({ value, label: t(`generate.${value}`) }))}
        value={kind}
        onChange={(kind) => kind && setKind(kind as Kind)}
      />
      <div className="two">
        <NumberInput label={t('generate.count')} required min={1} max={COUNT_MAX} allowDecimal={false} value={count} onChange={setCount} />
        <TextInput
          label={t('generate.seed')}
          placeholder={t('generate.random')}
          maxLength={255}
          value={seed}
          onChange={(event) => setSeed(event.currentTarget.value)}
        />
      </div>
    </Tool>
  )
}
