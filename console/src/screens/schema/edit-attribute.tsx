import { Checkbox, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { said } from '../../parts/toast.ts'
import { register } from './register.ts'
import { type Entry, REGISTER, SCHEMA, withPersonal } from './view.ts'

type Props = { dataKey: string; entry: Entry | undefined; onClose: () => void }

/** The label of an attribute, and whether it is personal data. */
export function EditAttribute({ dataKey, entry, onClose }: Props) {
  const { t } = useTranslation('schema')
  const [begun] = useState(entry)
  const [label, setLabel] = useState(begun?.label ?? '')
  const [isPersonal, setPersonal] = useState(begun?.personal_data ?? false)
  const save = useWrite(
    (api) => {
      const input = { ...withPersonal(begun, isPersonal), label: label.trim() === '' ? null : label }
      return register(api, dataKey, { begun, input })
    },
    [REGISTER, SCHEMA],
    () => {
      onClose()
      said(t('edit.done', { name: dataKey }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(undefined)
  }
  return (
    <Modal opened onClose={onClose} title={t('edit.title', { name: dataKey })} closeButtonProps={{ 'aria-label': t('close') }}>
      <form className="form" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <TextInput
          label={t('edit.label')}
          description={t('edit.labelAbout')}
          maxLength={64}
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
          data-autofocus
        />
        <Checkbox
          label={t('personal')}
          description={t('edit.personalAbout')}
          checked={isPersonal}
          onChange={(event) => setPersonal(event.currentTarget.checked)}
        />
        <FormButtons isPending={save.isPending} onCancel={onClose}>
          {t('save')}
        </FormButtons>
      </form>
    </Modal>
  )
}
