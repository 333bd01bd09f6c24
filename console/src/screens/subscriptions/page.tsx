import type { Reply } from '@carillon/sdk'
import { Button, ColorInput, Select, Textarea, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Dispatch, type FormEvent, type SetStateAction, useDeferredValue, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { keyOf, useRead } from '../../parts/data.ts'
import { afterSave, useDraft } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { PreviewFrame } from '../../parts/preview-frame.tsx'
import { useUndoableWrite } from '../../parts/undoable-write.ts'
import { useApi, useMay, useProject } from '../../session/project.tsx'

const THEME = '/api/client/page-theme'
const PREVIEW = `${THEME}/preview` as const
type Theme = Reply<typeof THEME, 'get'>

/** The languages of the page whose look differs: short, long, right to left, and of other letters. */
const LOCALES = ['en', 'de', 'ar', 'zh-Hans', 'ja']
const ACCENT = /^#[0-9a-f]{6}$/i

/** The page on which users choose what they get: its theme, and how it looks. */
export function PreferencePage() {
  const { t } = useTranslation('subscriptions')
  const theme = useRead(THEME, {})
  return (
    <>
      <PageHead
        title={t('page.title')}
        about={t('page.about')}
        actions={<CopyAs label={t('page.more')} request={{ method: 'GET', path: THEME }} />}
      />
      {theme.isPending && <Loading />}
      {theme.error && <Failed error={theme.error} onRetry={() => void theme.refetch()} />}
      {theme.data && <Editor stored={theme.data} />}
    </>
  )
}

function Editor({ stored }: { stored: Theme }) {
  const [draft, setDraft] = useDraft(stored)
  return (
    <div className="cols two">
      <ThemeForm stored={stored} draft={draft} onChange={setDraft} />
      <Preview theme={draft} />
    </div>
  )
}

const orNull = (text: string) => (text === '' ? null : text)

type FormProps = { stored: Theme; draft: Theme; onChange: Dispatch<SetStateAction<Theme>> }

function ThemeForm({ stored, draft, onChange }: FormProps) {
  const { t } = useTranslation('subscriptions')
  const isFixed = !useMay('admin')
  const { name } = useProject()
  const set = (changes: Partial<Theme>) => onChange({ ...draft, ...changes })
  const save = useUndoableWrite(
    { read: (api) => api.get(THEME), write: (api, theme: Theme) => api.put(THEME, { body: theme }) },
    [THEME],
    t('page.saved'),
    (sent, saved) => onChange(afterSave(sent, saved)),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ value: draft, before: stored })
  }
  return (
    <Card title={t('page.theme')}>
      <form className="form pad" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <TextInput
          label={t('page.brand')}
          placeholder={name}
          maxLength={100}
          disabled={isFixed}
          value={draft.brand_name ?? ''}
          onChange={(event) => set({ brand_name: orNull(event.currentTarget.value) })}
        />
        <TextInput
          label={t('page.logo')}
          description={t('page.logoAbout')}
          type="url"
          disabled={isFixed}
          value={draft.logo_url ?? ''}
          onChange={(event) => set({ logo_url: orNull(event.currentTarget.value) })}
        />
        <ColorInput
          label={t('page.accent')}
          description={t('page.accentAbout')}
          placeholder="#1f4fd8"
          disabled={isFixed}
          withPicker={false}
          withEyeDropper={false}
          value={draft.accent_color ?? ''}
          onChange={(colour) => set({ accent_color: orNull(colour) })}
        />
        <Textarea
          label={t('page.footer')}
          description={t('page.footerAbout')}
          maxLength={1000}
          autosize
          minRows={3}
          disabled={isFixed}
          value={draft.footer_text ?? ''}
          onChange={(event) => set({ footer_text: orNull(event.currentTarget.value) })}
        />
        {!isFixed && (
          <div>
            <Button type="submit" loading={save.isPending} disabled={JSON.stringify(draft) === JSON.stringify(stored)}>
              {t('save')}
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}

/** What can be drawn while it is typed: a colour and an address are left out until they are complete. */
const drawable = ({ accent_color, logo_url, brand_name, footer_text }: Theme): Theme => ({
  brand_name: brand_name?.trim() ? brand_name : null,
  logo_url: logo_url !== null && URL.canParse(logo_url) && logo_url.startsWith('https://') ? logo_url : null,
  accent_color: accent_color !== null && ACCENT.test(accent_color) ? accent_color : null,
  footer_text,
})

function Preview({ theme }: { theme: Theme }) {
  const { t, i18n } = useTranslation('subscriptions')
  const api = useApi()
  const { id } = useProject()
  const [locale, setLocale] = useState(LOCALES[0] as string)
  const body = { theme: drawable(useDeferredValue(theme)), locale }
  const page = useQuery({
    queryKey: keyOf(id, PREVIEW, body),
    queryFn: ({ signal }) => api.post(PREVIEW, { body, signal }),
    placeholderData: keepPreviousData,
  })
  const names = new Intl.DisplayNames([i18n.language], { type: 'language' })
  return (
    <Card title={t('page.preview')} aside={t('page.previewAbout')}>
      <div className="form pad">
        <Select
          label={t('page.language')}
          allowDeselect={false}
          data={LOCALES.map((value) => ({ value, label: names.of(value) ?? value }))}
          value={locale}
          onChange={(locale) => locale && setLocale(locale)}
        />
        {page.error && <Failed error={page.error} />}
        {page.data && <PreviewFrame html={page.data.html} title={t('page.preview')} />}
      </div>
    </Card>
  )
}
