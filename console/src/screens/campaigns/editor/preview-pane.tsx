import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loading } from '../../../parts/loading.tsx'
import { TabBar } from '../../../parts/tabs.tsx'
import type { Campaign } from '../search.ts'
import { Drawn } from './drawn.tsx'
import type { Preview } from './use-preview.ts'

const VIEWS = ['600', '320', 'text'] as const

type Props = {
  channel: Campaign['channel']
  preview: Preview | undefined
  /** The images of an email by their ids. */
  images: ReadonlyMap<string, string>
}

/** The rendered message at several widths, in dark mode, without images and as text. */
export function PreviewPane({ channel, preview, images }: Props) {
  const { t } = useTranslation('campaigns')
  const [view, setView] = useState<string>('600')
  const [isDark, setDark] = useState(false)
  const [hasImages, setImages] = useState(true)
  if (!preview) return <Loading />
  return (
    <>
      {channel === 'email' && (
        <div className="pad tight acts">
          <TabBar
            isSmall
            label={t('preview.views')}
            tabs={VIEWS.map((id) => ({ id, label: t(`preview.view.${id}`) }))}
            current={view}
            onChange={setView}
          />
          <div className="seg">
            <button type="button" aria-pressed={isDark} onClick={() => setDark(!isDark)}>
              {t('preview.dark')}
            </button>
            <button type="button" aria-pressed={!hasImages} onClick={() => setImages(!hasImages)}>
              {t('preview.noImages')}
            </button>
          </div>
        </div>
      )}
      <Drawn
        channel={channel}
        preview={preview}
        images={images}
        width={view === '320' ? 320 : 600}
        isDark={isDark}
        hasImages={hasImages}
        isText={view === 'text'}
      />
    </>
  )
}
