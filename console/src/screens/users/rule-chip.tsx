import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Sentence } from '../../parts/sentence.tsx'

/** Where the focus returns when the rule is closed. */
export const RULE_CHIP = 'filter-by-rule'

type Props = {
  isSet: boolean
  /** The rule in words, once the server has read it. */
  words: string | undefined
  onOpen: () => void
  onRemove: () => void
}

/** The rule among the filters: its sentence, which opens it, and a cross. */
export function RuleChip({ isSet, words, onOpen, onRemove }: Props) {
  const { t } = useTranslation('users')
  const name = isSet ? (
    <>
      {t('byRule.rule')}: <b>{words === undefined ? '…' : <Sentence text={words} />}</b>
    </>
  ) : (
    <>
      <IconPlus size={14} stroke={1.75} aria-hidden />
      {t('byRule.open')}
    </>
  )
  // One button in both states, which keeps the focus.
  return (
    <div className={isSet ? 'filter rule-filter' : undefined}>
      <button id={RULE_CHIP} type="button" className={isSet ? undefined : 'filter add'} onClick={onOpen}>
        {name}
      </button>
      {isSet && (
        <button type="button" aria-label={t('byRule.remove')} onClick={onRemove}>
          <IconX size={14} stroke={1.75} aria-hidden />
        </button>
      )}
    </div>
  )
}
