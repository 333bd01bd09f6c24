import { Anchor } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { SECRET_VARIABLE } from './endpoint-form.tsx'

const SHOWN = 24
const GUIDE = '/docs/guide/webhooks'

const beginningOf = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

/** How the receiver checks the signature of an attempt, step by step, with its values. */
export function Signed({ headers, body }: { headers: Record<string, string>; body: string }) {
  const { t } = useTranslation('webhooks')
  const [time = '', ...signatures] = (headers['service-signature'] ?? '').split(',').map((part) => part.slice(part.indexOf('=') + 1))
  const [signature] = signatures
  if (signature === undefined) return null
  return (
    <section className="pad signed">
      <h3>{t('signed.heading')}</h3>
      <ol>
        <li>
          {t('signed.read')} <code>service-signature</code>: <code>t={time}</code>
        </li>
        <li>
          {t('signed.join')}{' '}
          <code>
            {time}.{beginningOf(body)}
          </code>
        </li>
        <li>
          {t('signed.hash', { variable: SECRET_VARIABLE })} <code>{signature}</code>
        </li>
        <li>{t('signed.compare', { count: signatures.length })}</li>
        <li>{t('signed.age')}</li>
      </ol>
      <p className="quiet xs">
        {t('signed.standard')}{' '}
        <Anchor href={GUIDE} inherit>
          {t('signed.guide')}
        </Anchor>
      </p>
    </section>
  )
}
