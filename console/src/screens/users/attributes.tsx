import { CarillonError, type components } from '@carillon/sdk'
import { Button, JsonInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { pathOf } from '../../parts/attribute-paths.ts'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { useAttributes } from '../../parts/rules/data.ts'
import { undoable } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'

type User = components['schemas']['UserReply']
type Data = Record<string, unknown>

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The attributes of the profile. */
export function Attributes({ user }: { user: User }) {
  const { t } = useTranslation('users')
  const [isEditing, setEditing] = useState(false)
  const mayEdit = useMay('editor')
  const { labels } = useAttributes()
  const entries = Object.entries(user.data)
  const fixed = [
    ['locale', user.locale],
    ['timezone', user.timezone],
    ['anonymous_id', user.anonymous_id],
  ].filter((entry): entry is [string, string] => entry[1] !== null)
  const labelled = entries.map(([name, value]) => ({ name, value, label: labels.get(pathOf([name])) }))
  return (
    <Card
      title={t('attributes.heading')}
      aside={entries.length + fixed.length}
      actions={
        mayEdit && (
          <Button size="xs" variant="default" onClick={() => setEditing(!isEditing)} aria-expanded={isEditing} aria-keyshortcuts="e">
            {t('attributes.edit')}
          </Button>
        )
      }
    >
      {isEditing ? (
        <Editor user={user} onDone={() => setEditing(false)} />
      ) : (
        <table aria-label={t('attributes.heading')}>
          <tbody>
            {[...fixed.map(([name, value]) => ({ name, value, label: undefined })), ...labelled].map(({ name, value, label }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                  {label !== undefined && <span className="sm"> {label}</span>}
                  <span className="r">{typeOf(value)}</span>
                </th>
                <td className="value">{shown(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

/** Members that were removed are null in the request: the API merges. */
const changesOf = (before: Data, after: Data): Data => ({
  ...Object.fromEntries(
    Object.keys(before)
      .filter((name) => !(name in after))
      .map((name) => [name, null]),
  ),
  ...Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value))),
})

/** An item of a batch that was refused, as if it were the whole request. */
const refusalOf = (error: NonNullable<components['schemas']['UserBatch']['error']>) =>
  new CarillonError({
    status: 422,
    body: { code: error.code, message: error.message, request_id: '', error: { doc_url: '', ...error } },
    requestId: null,
  })

function parsed(text: string): Data | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : null
  } catch {
    return null
  }
}

function Editor({ user, onDone }: { user: User; onDone: () => void }) {
  const { t } = useTranslation('users')
  // What others change meanwhile stays: only what differs from this is saved.
  const [begun] = useState(user.data)
  const [text, setText] = useState(JSON.stringify(begun, null, 2))
  const save = useWrite(
    async (api, { after, before }: { after: Data; before: Data }) => {
      const body = [{ external_id: user.external_id, data: changesOf(before, after) }]
      const { results } = await api.post('/api/client/users/batch', { body })
      const error = results[0]?.error
      if (error) throw refusalOf(error)
    },
    ['/api/client/users'],
    (_, { after, before }) => {
      onDone()
      if (before === begun) undoable(t('attributes.saved'), () => save.mutateAsync({ after: before, before: after }))
    },
  )
  const data = parsed(text)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (data) save.mutate({ after: data, before: begun })
  }
  return (
    <form className="form pad" onSubmit={submit}>
      {save.error && <Failed error={save.error} />}
      <JsonInput
        label={t('attributes.data')}
        autosize
        minRows={6}
        maxRows={24}
        value={text}
        onChange={setText}
        error={data ? undefined : t('form.json')}
      />
      <div className="acts">
        <Button type="submit" loading={save.isPending} disabled={!data}>
          {t('save')}
        </Button>
        <Button variant="default" onClick={onDone}>
          {t('cancel')}
        </Button>
      </div>
    </form>
  )
}
