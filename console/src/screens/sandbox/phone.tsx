import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { clock } from '../../parts/time.tsx'

type Props = { message: components['schemas']['SandboxMessageReply']; content: Record<string, unknown> }

/** Texts and push messages on a telephone; webhook messages as the request that they are. */
export function Phone({ message, content }: Props) {
  const { i18n } = useTranslation('sandbox')
  const time = clock(i18n.language, { at: message.created_at })
  if (message.channel === 'webhook') return <Code text={requestOf(content)} />
  const title = typeof content.title === 'string' ? content.title : undefined
  const body = typeof content.body === 'string' ? content.body : message.summary
  return (
    <div className="paper">
      <div className="phone">
        <p className="hour">{time}</p>
        <div className="note">
          <p className="r">{message.recipient}</p>
          {title && (
            <p dir="auto">
              <b>{title}</b>
            </p>
          )}
          <p dir="auto">{body}</p>
        </div>
      </div>
    </div>
  )
}

function requestOf({ method, endpoint, headers, body }: Record<string, unknown>): string {
  const lines = Object.entries((headers as Record<string, string> | undefined) ?? {}).map(([name, value]) => `${name}: ${value}`)
  return [`${method ?? 'POST'} ${endpoint ?? ''}`, ...lines, '', typeof body === 'string' ? body : JSON.stringify(body, null, 2)].join('\n')
}
