import { useTranslation } from 'react-i18next'
import { PageHead } from '../../parts/page.tsx'
import { useSession } from '../../session/index.ts'
import { Passkeys } from './passkeys.tsx'
import { Password } from './password.tsx'
import { Profile } from './profile.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

/** What a member changes about themselves: name, password, second factor, sessions. */
export function Account() {
  const { t } = useTranslation('account')
  const { member, organisation, role } = useSession()
  return (
    <>
      <PageHead title={t('title')} about={`${member.email} · ${organisation.name} · ${t(`roles.${role}`)}`} />
      <div className="cols two">
        <div className="stack">
          <Profile />
          <Password />
        </div>
        <div className="stack">
          <SecondFactor />
          <Passkeys />
        </div>
      </div>
      <Sessions />
    </>
  )
}
