import type { Client } from '@carillon/sdk'
import { NumberInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { usersOf } from './contacts.ts'
import { Tool } from './tool.tsx'

const COUNT = 100

/** Generates contacts and saves them as users. Their addresses are at domains for examples, so no email reaches a mailbox. */
async function addUsers(api: Client, count: number): Promise<number> {
  const { data } = await api.post('/api/ext/generic/data/generate/contact', { body: { count: String(count) } })
  await api.patch('/api/client/users', { body: usersOf(data.contacts) })
  return data.contacts.length
}

/** Users that do not exist, to try things with. */
export function SampleUsers() {
  const { t } = useTranslation('tools')
  const [count, setCount] = useState<string | number>(COUNT)
  const call = useWrite((api) => addUsers(api, Number(count)), ['/api/client/users'])
  return (
    <Tool
      title={t('users.title')}
      about={t('users.about')}
      action={t('users.action', { count: Number(count) || 0 })}
      call={call}
      result={(count) => <p className="say good">{t('users.done', { count })}</p>}
    >
      <NumberInput label={t('users.count')} required min={1} max={COUNT} allowDecimal={false} value={count} onChange={setCount} />
    </Tool>
  )
}
