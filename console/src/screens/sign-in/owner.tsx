import { useTranslation } from 'react-i18next'
import { Door } from './door.tsx'
import { NewMember } from './new-member.tsx'

/** Creates the owner of the organisation with the link of the first start. */
export function Owner({ token, onDone }: { token: string; onDone: () => unknown }) {
  const { t } = useTranslation('sign-in')
  return (
    <Door title={t('owner.title')} about={t('owner.about')}>
      <NewMember path="owner" token={token} asksForEmail submit={t('owner.submit')} onDone={onDone} />
    </Door>
  )
}
