import { Fragment, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { childrenOf, type Draft, groupOf, isSingle, type Meta, pathIn } from '../../parts/rules/rule.ts'

type Props = {
  rule: Draft
  meta: Meta
  /** The conditions in words, by their paths. */
  words: ReadonlyMap<string, string>
}

/** A rule as a sentence, composed as the API does it. A missing value is shown as a gap. */
export function Sentence({ rule, meta, words }: Props) {
  const { t } = useTranslation('lists')
  return (
    <p className="sentence" aria-live="polite">
      {t('sentence.begin')} {inWords(rule, 'rule', { meta, words, and: t('sentence.and'), or: t('sentence.or'), not: t('sentence.not') })}.
    </p>
  )
}

type Given = { meta: Meta; words: ReadonlyMap<string, string>; and: string; or: string; not: string }

function inWords(rule: Draft, path: string, given: Given): ReactNode {
  const group = groupOf(rule, given.meta)
  if (group === undefined) return <b>{given.words.get(path) ?? '…'}</b>
  const children = childrenOf(rule, group)
  const parts = children.map((child, index) => {
    const at = pathIn(path, group, index, given.meta)
    const part = inWords(child, at, given)
    const isPlain = children.length === 1 || groupOf(child, given.meta) === undefined
    return (
      <Fragment key={at}>
        {index > 0 && ` ${group === 'all' ? given.and : given.or} `}
        {isPlain ? part : <>({part})</>}
      </Fragment>
    )
  })
  const isNegated = group === 'none' || isSingle(group, given.meta)
  return isNegated ? (
    <>
      {given.not} ({parts})
    </>
  ) : (
    parts
  )
}
