import { Skeleton } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

const SHOWN_AFTER_MS = 400
const WIDTHS = ['90%', '81%', '72%', '63%']

/** Grey lines where content will be. Shows nothing at first, because most replies arrive before the lines would be noticed. */
export function Loading() {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="loading" aria-busy="true">
      <output className="vh">{isShown ? t('loading') : ''}</output>
      {isShown && WIDTHS.map((width) => <Skeleton key={width} height={14} mt="md" width={width} />)}
    </div>
  )
}
