import { useTranslation } from 'react-i18next'
import type { Campaign } from '../search.ts'
import type { DrawnProps } from './channels/channel.ts'
import { channels } from './channels/index.ts'

type Props = { channel: Campaign['channel'] } & Pick<DrawnProps, 'preview' | 'width'> & Partial<DrawnProps>

const NO_IMAGES: ReadonlyMap<string, string> = new Map()

/** A rendered message as its recipient sees it. */
export function Drawn({ channel, preview, images = NO_IMAGES, width, isDark = false, hasImages = true, isText = false, title }: Props) {
  const { t } = useTranslation('campaigns')
  const content = preview.content as Record<string, unknown> | null
  if (content === null) return <p className="pad sm quiet">{t('preview.none')}</p>
  const text = (name: string) => (typeof content[name] === 'string' ? content[name] : '')
  const { Drawn: DrawnContent } = channels[channel]
  return <DrawnContent {...{ content, text, preview, images, width, isDark, hasImages, isText, title }} />
}
