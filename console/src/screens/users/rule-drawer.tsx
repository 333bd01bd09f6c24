import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { useMeta } from '../../parts/rules/data.ts'
import { RuleEditor } from '../../parts/rules/group.tsx'
import { type Draft, FIRST_RULE, inGroup, isComplete } from '../../parts/rules/rule.ts'

type Props = {
  rule: Draft | undefined
  onApply: (rule: Draft | undefined) => void
  onClose: () => void
}

/** The rule that the list of users is filtered by, put together as that of a list. */
export function RuleDrawer({ rule, onApply, onClose }: Props) {
  const { t } = useTranslation('users')
  const { data: meta, error, refetch } = useMeta()
  const [draft, setDraft] = useState(rule ?? FIRST_RULE)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (isComplete(draft)) onApply(draft)
  }
  return (
    <Drawer label={t('byRule.open')} heading={t('byRule.open')} isRead={meta !== undefined} onClose={onClose}>
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!meta && !error && <Loading />}
      {meta && (
        // Escape closes the suggestions of a field, and must not take what was chosen with it.
        <form className="rule-form" onSubmit={apply} onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}>
          <RuleEditor rule={inGroup(draft, meta)} meta={meta} path="rule" level={1} onChange={setDraft} />
          <div className="acts pad">
            <Button type="submit" size="xs" disabled={!isComplete(draft)}>
              {t('byRule.apply')}
            </Button>
            {rule !== undefined && (
              <Button variant="default" size="xs" onClick={() => onApply(undefined)}>
                {t('byRule.remove')}
              </Button>
            )}
            {!isComplete(draft) && <span className="quiet sm">{t('byRule.incomplete')}</span>}
          </div>
        </form>
      )}
    </Drawer>
  )
}
