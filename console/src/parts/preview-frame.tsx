import { useEffect, useRef, useState } from 'react'

type Props = { html: string; title: string; width?: number | '100%'; heightMin?: number; isDark?: boolean; hasImages?: boolean }

const HEIGHT_MIN = 240

/**
 * Untrusted HTML in a document with an origin of its own: `/console/preview` allows its styles and images, but no scripts. Its height
 * follows its content.
 */
export function PreviewFrame({ html, title, width = '100%', heightMin = HEIGHT_MIN, isDark = false, hasImages = true }: Props) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const [height, setHeight] = useState(heightMin)
  useEffect(() => {
    const hear = ({ source, data }: MessageEvent) => {
      if (source !== frame.current?.contentWindow) return
      if (data === 'ready') setReady(true)
      else if (typeof data?.height === 'number') setHeight(Math.max(heightMin, data.height))
    }
    window.addEventListener('message', hear)
    return () => window.removeEventListener('message', hear)
  }, [heightMin])
  useEffect(() => {
    if (isReady) frame.current?.contentWindow?.postMessage({ html, isDark, hasImages }, '*')
  }, [isReady, html, isDark, hasImages])
  return (
    <iframe
      ref={frame}
      className="preview"
      title={title}
      src="/console/preview"
      sandbox="allow-scripts"
      style={{ width, height, colorScheme: isDark ? 'dark' : 'light' }}
    />
  )
}
