import { Tabs } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { keepInBrowser } from '../session/keep.ts'
import { CopyButton } from './copy.tsx'

/** Code to paste, dark in both schemes. */
export function Code({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation()
  return (
    <div className="codebox">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <pre className="code fold" tabIndex={0}>
        {text}
      </pre>
      <CopyButton value={text} label={label ? t('copyAs', { language: label }) : t('copyCode')} />
    </div>
  )
}

/** Code in several languages, one at a time. The choice is remembered in this browser. */
export function CodeTabs({ samples }: { samples: { language: string; text: string }[] }) {
  const { t } = useTranslation()
  const stored = localStorage.getItem(STORED)
  const first = samples.find(({ language }) => language === stored) ?? samples[0]
  return (
    <Tabs
      className="codetabs"
      defaultValue={first?.language ?? null}
      onChange={(language) => language && keepInBrowser(STORED, language)}
      keepMounted={false}
    >
      <Tabs.List aria-label={t('languages')}>
        {samples.map(({ language }) => (
          <Tabs.Tab key={language} value={language}>
            {language}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ language, text }) => (
        <Tabs.Panel key={language} value={language}>
          <Code text={text} label={language} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

const STORED = 'carillon.code'
