import type { components } from '@carillon/sdk'
import { Button, TextInput } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'

type List = components['schemas']['List']
type Explanation = NonNullable<components['schemas']['ListUserExplainReply']['explanation']>

const PATH = '/api/client/lists/{listId}/users/{userId}/explain'

/** Whether a user is in the list, and which condition decides it, with what was found. */
export function TestUser({ list, isChanged = false }: { list: List; isChanged?: boolean }) {
  const { t } = useTranslation('lists')
  const [typed, setTyped] = useState('')
  const [userId, setUserId] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setUserId(typed.trim())
  }
  return (
    <Card title={t('test.heading')}>
      <div className="pad form">
        <form className="testing" onSubmit={submit}>
          <TextInput
            aria-label={t('test.user')}
            placeholder={t('test.user')}
            required
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" variant="default">
            {t('test.submit')}
          </Button>
        </form>
        {isChanged && <p className="quiet sm">{t('test.saved')}</p>}
        {userId !== null && <Found listId={list.id} userId={userId} />}
      </div>
    </Card>
  )
}

function Found({ listId, userId }: { listId: number; userId: string }) {
  const { t } = useTranslation('lists')
  const { data, error } = useRead(PATH, { path: { listId, userId } }, { staleTime: 0 })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  const { member, since, next_check_at, explanation } = data
  return (
    <div className="sm">
      <p>
        <b>{t(member ? 'test.in' : 'test.out')}</b> {since && <Time at={since} />}
      </p>
      {explanation && (
        <ul className="checks">
          <Part explanation={explanation} />
        </ul>
      )}
      {next_check_at && (
        <p className="quiet">
          {t('test.next')} <Time at={next_check_at} />
        </p>
      )}
    </div>
  )
}

/** A part of the rule: passed or not, with the evidence. */
function Part({ explanation: { is, passes, condition, seen, of } }: { explanation: Explanation }) {
  const { t } = useTranslation('lists')
  const IconOf = passes ? IconCheck : IconX
  return (
    <li>
      <IconOf className={passes ? 'tg' : 'tb'} size={16} stroke={1.75} aria-label={t(passes ? 'test.passes' : 'test.fails')} />
      <div>
        {condition ? (
          <>
            <code>{JSON.stringify(condition)}</code>
            <span className="r">{t('test.seen', { value: JSON.stringify(seen) ?? '–' })}</span>
          </>
        ) : (
          t(`test.${is}`)
        )}
        {of && (
          <ul className="checks">
            {(of as unknown as Explanation[]).map((part) => (
              <Part key={part.path} explanation={part} />
            ))}
          </ul>
        )}
      </div>
    </li>
  )
}
