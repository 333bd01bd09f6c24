import { Menu } from '@mantine/core'
import { IconHelp, IconLogout, IconSearch, IconUser } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { initialsOf } from '../parts/initials.ts'
import { useSignOut } from '../parts/sign-out.ts'
import type { SessionProject } from '../session/api.ts'
import { useSession } from '../session/index.ts'
import { chooseLanguage } from '../texts/index.ts'
import { LANGUAGES, type Language } from '../texts/languages.ts'
import { Crumbs } from './crumbs.tsx'
import { openPalette } from './palette-key.tsx'
import { openShortcuts } from './shortcuts.tsx'
import { ThemeButton } from './theme-button.tsx'

const isApple = /Mac|iP(?:hone|ad)/.test(navigator.userAgent)

/** The breadcrumb, and the buttons for the palette, help, theme and account. */
export function TopBar({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  return (
    <header className="top">
      <Crumbs project={project} />
      <button className="find" type="button" onClick={openPalette}>
        <IconSearch size={16} stroke={1.5} aria-hidden />
        <span>{t('palette.open')}</span>
        <kbd>{isApple ? '⌘K' : t('key.combined', { key: 'K' })}</kbd>
      </button>
      <button className="ib hide-s" type="button" aria-label={t('shortcuts.open')} onClick={openShortcuts}>
        <IconHelp size={16} stroke={1.5} aria-hidden />
      </button>
      <ThemeButton />
      <AccountMenu />
    </header>
  )
}

function AccountMenu() {
  const { t, i18n } = useTranslation()
  const { member, organisation } = useSession()
  const leave = useSignOut()
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <button
          className="me"
          type="button"
          aria-label={t('account.menu', { name: member.name })}
          data-initials={initialsOf(member.name)}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {member.email}
          <br />
          {organisation.name}
        </Menu.Label>
        <Menu.Item component={Link} to="/account" leftSection={<IconUser size={16} stroke={1.5} />}>
          {t('account.open')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('language')}</Menu.Label>
        {Object.entries(LANGUAGES).map(([language, name]) => (
          <Menu.Item
            key={language}
            lang={language}
            aria-current={i18n.language === language ? 'true' : undefined}
            onClick={() => void chooseLanguage(language as Language)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()} leftSection={<IconLogout size={16} stroke={1.5} />}>
          {t('account.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
