import { useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const
const ICONS = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon }

/** Changes between the scheme of the system, light and dark. */
export function ThemeButton() {
  const { t } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const IconOf = ICONS[colorScheme]
  return (
    <button className="ib hide-s" type="button" aria-label={t(`theme.${colorScheme}`)} onClick={() => setColorScheme(NEXT[colorScheme])}>
      <IconOf size={16} stroke={1.5} aria-hidden />
    </button>
  )
}
