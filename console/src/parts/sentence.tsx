import { useTranslation } from 'react-i18next'
import { partsOf } from './sentence-parts.ts'
import { instant } from './time.tsx'

/** A sentence from the server. Names are shown as code, and times in the time zone of the reader, or in the one given. */
export function Sentence({ text, zone }: { text: string; zone?: string }) {
  const { i18n } = useTranslation()
  const parts = partsOf(text).map(({ kind, text }, at) => {
    const key = `${at} ${text}`
    if (kind === 'name') return <code key={key}>{text}</code>
    if (kind === 'words') return text
    return (
      <time key={key} dateTime={text} title={text}>
        {instant(i18n.language, { at: text, zone })}
      </time>
    )
  })
  // One element, so that a row of elements does not put its words beside each other.
  return <span>{parts}</span>
}
