import { useTranslation } from 'react-i18next'
import { PageHead } from '../../parts/page.tsx'
import { useMay } from '../../session/project.tsx'
import { Generators } from './generators.tsx'
import { Phone } from './phone.tsx'
import { SampleUsers } from './sample-users.tsx'
import { Sentiment } from './sentiment.tsx'
import { Spf } from './spf.tsx'
import { Tcp } from './tcp.tsx'

/** The utilities of the API, for people. */
export function Tools() {
  const { t } = useTranslation('tools')
  const mayWrite = useMay('editor')
  return (
    <>
      <PageHead title={t('title')} about={t('about')} />
      <div className="cols two">
        <div className="stack">
          <Phone />
          <Spf />
          <Tcp />
        </div>
        <div className="stack">
          {mayWrite && <SampleUsers />}
          <Generators />
          <Sentiment />
        </div>
      </div>
    </>
  )
}
