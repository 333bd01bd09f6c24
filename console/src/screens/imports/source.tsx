import { MultiSelect, Switch, TextInput } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import type { DragEvent, ReactNode } from 'react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useReadAll } from '../../parts/data.ts'
import { ListSelect } from './lists.tsx'

export type Options = { updates: boolean; consentSource: string; subscriptionIds: string[] }

type Props = {
  listId: number | undefined
  onList: (id: number) => void
  file: File | null
  onFile: (file: File) => void
  options: Options
  onOptions: (options: Options) => void
  children: ReactNode
}

/** The fields of a new import: the list, the file and the options. */
export function Source({ listId, onList, file, onFile, options, onOptions, children }: Props) {
  const { t } = useTranslation('imports')
  const { data: types } = useReadAll('/api/client/subscriptions')
  return (
    <div className="form pad">
      <ListSelect isLabelled value={listId} onChange={onList} />
      <FileField file={file} onFile={onFile} />
      <Switch
        label={t('option.updates')}
        description={t('option.updatesAbout')}
        checked={options.updates}
        onChange={(event) => onOptions({ ...options, updates: event.currentTarget.checked })}
      />
      <MultiSelect
        label={t('option.subscribes')}
        description={t('option.subscribesAbout')}
        data={(types ?? []).map(({ id, name }) => ({ value: String(id), label: name }))}
        value={options.subscriptionIds}
        onChange={(subscriptionIds) => onOptions({ ...options, subscriptionIds })}
      />
      {options.subscriptionIds.length > 0 && (
        <TextInput
          label={t('option.consent')}
          description={t('option.consentAbout')}
          required
          maxLength={255}
          value={options.consentSource}
          onChange={(event) => onOptions({ ...options, consentSource: event.currentTarget.value })}
        />
      )}
      <div className="acts">{children}</div>
    </div>
  )
}

/** A file by its dialog, or dropped. */
function FileField({ file, onFile }: { file: File | null; onFile: (file: File) => void }) {
  const { t } = useTranslation('imports')
  const [isOver, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const [dropped] = event.dataTransfer.files
    if (dropped) onFile(dropped)
  }
  return (
    <label
      className={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <IconUpload size={20} stroke={1.5} aria-hidden />
      <span>
        {file ? file.name : t('file')}
        <span className="r">{t('fileAbout')}</span>
      </span>
      <input
        className="vh"
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        onChange={({ currentTarget: field }) => {
          const chosen = field.files?.[0]
          // Browsers do not tell that the same file was chosen again, which may have been corrected.
          field.value = ''
          if (chosen) onFile(chosen)
        }}
      />
    </label>
  )
}
