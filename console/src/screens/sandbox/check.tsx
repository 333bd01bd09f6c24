import type { components } from '@carillon/sdk'
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Findings } from '../../parts/findings.tsx'

export type Check = components['schemas']['SandboxMessageCheckReply']
type Link = Check['links'][number]

const KB = 1024

/** What the lints found in a captured message. */
export function Problems({ check: { findings, size_bytes } }: { check: Check }) {
  const { t, i18n } = useTranslation('sandbox')
  const size = size_bytes !== null && new Intl.NumberFormat(i18n.language).format(Math.ceil(size_bytes / KB))
  return (
    <>
      <ul className="checks">
        <Findings findings={findings} />
        {findings.length === 0 && (
          <li>
            <span className="badge good">
              <IconCheck size={16} stroke={1.5} aria-hidden />
            </span>
            <div>{t('check.noProblems')}</div>
          </li>
        )}
      </ul>
      {size && <p className="r pad">{t('check.size', { size })}</p>}
    </>
  )
}

/** What each link of a captured message is. None of them was requested. */
export function Links({ check: { links } }: { check: Check }) {
  const { t } = useTranslation('sandbox')
  return (
    <>
      <p className="r pad">{t(links.length === 0 ? 'check.noLinks' : 'check.aboutLinks')}</p>
      <ul className="checks">
        {links.map((link, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: links never move, and one may stand twice.
          <LinkLine key={at} link={link} />
        ))}
      </ul>
    </>
  )
}

const MARKS = { good: IconCheck, warn: IconAlertTriangle, bad: IconX }

function LinkLine({ link: { url, target, text, line, kind, problem } }: { link: Link }) {
  const { t } = useTranslation('sandbox')
  const tone = problem === null ? 'good' : problem === 'insecure' ? 'warn' : 'bad'
  const Mark = MARKS[tone]
  return (
    <li>
      <span className={`badge ${tone}`}>
        <Mark size={16} stroke={1.5} aria-hidden />
      </span>
      <div>
        <b dir="auto">{text || t('check.noWords')}</b> <span className="r">{t('check.at', { kind: t(`check.kind.${kind}`), line })}</span>
        {problem !== null && <div>{t(`check.problem.${problem}`)}</div>}
        <code className="r link">{target ?? url}</code>
      </div>
    </li>
  )
}
