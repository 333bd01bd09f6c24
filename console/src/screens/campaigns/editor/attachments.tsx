import type { Client, components } from '@carillon/sdk'
import { Button, FileButton, Switch } from '@mantine/core'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ConfirmWrite } from '../../../parts/confirm-write.tsx'
import { Copyable } from '../../../parts/copy.tsx'
import { useRead, useWrite } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { Card } from '../../../parts/page.tsx'
import { sizeOf } from '../../../parts/sizes.ts'
import { said } from '../../../parts/toast.ts'
import { ATTACHMENT, ATTACHMENTS, base64Of, contentIdOf, FILE_BYTES_MAX } from './files.ts'
import type { Place } from './template.ts'

type Attachment = components['schemas']['TemplateAttachment']
type Props = { campaignId: number; place: Place; mayWrite: boolean }

/** The files that every email of the template has, and the images that its HTML shows. */
export function Attachments({ campaignId, place: { locale, variant }, mayWrite }: Props) {
  const { t, i18n } = useTranslation('campaigns')
  const path = { campaignId, locale }
  const { data, error, refetch } = useRead(ATTACHMENTS, { path, query: { variant } })
  const [deleted, setDeleted] = useState<string | null>(null)
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  // Files that came later would move the button below them. Which files there are decides what an image is called.
  if (!data) return <Loading />
  return (
    <Card title={t('attachments.heading')} aside={t('attachments.about')}>
      {data.results.length > 0 && (
        <ul className="attachments">
          {data.results.map((file) => (
            <li key={file.name}>
              <span>
                <b>{file.name}</b>
                <span className="r">
                  {file.content_type} · {sizeOf(i18n.language, file.size_bytes)}
                </span>
                {file.content_id !== null && (
                  <Copyable value={`cid:${file.content_id}`} label={t('attachments.copy', { name: file.name })} />
                )}
              </span>
              {mayWrite && (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t('attachments.deleteOf', { name: file.name })}
                  onClick={() => setDeleted(file.name)}
                >
                  {t('attachments.delete')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayWrite && <AddFile campaignId={campaignId} locale={locale} variant={variant} existing={data.results} />}
      <ConfirmWrite
        isOpen={deleted !== null}
        onClose={() => setDeleted(null)}
        title={t('attachments.deleteTitle', { name: deleted })}
        action={t('attachments.deleteAction')}
        write={(api) => api.delete(ATTACHMENT, { path: { ...path, name: deleted ?? '' }, query: { variant } })}
        changes={[ATTACHMENTS]}
        done={t('attachments.deleted', { name: deleted })}
      >
        <p>{t('attachments.deleteAbout')}</p>
      </ConfirmWrite>
    </Card>
  )
}

function AddFile({ campaignId, locale, variant, existing }: Omit<Props, 'place' | 'mayWrite'> & Place & { existing: Attachment[] }) {
  const { t } = useTranslation('campaigns')
  const [isInline, setInline] = useState(false)
  const [isTooLarge, setTooLarge] = useState(false)
  const [replacing, setReplacing] = useState<File | null>(null)
  const put = async (api: Client, file: File) => {
    const content_id = contentIdOf(file.name, existing, isInline)
    const body = {
      content_type: file.type || 'application/octet-stream',
      content: await base64Of(file),
      ...(content_id !== null && { content_id }),
    }
    await api.put(ATTACHMENT, { path: { campaignId, locale, name: file.name }, query: { variant }, body })
  }
  const add = useWrite(put, [ATTACHMENTS], (_, { name }) => said(t('attachments.added', { name })))
  const reset = useRef<() => void>(null)
  const choose = (file: File | null) => {
    // Browsers do not tell that the same file was chosen again, which may have been corrected.
    reset.current?.()
    setTooLarge(file !== null && file.size > FILE_BYTES_MAX)
    if (!file || file.size > FILE_BYTES_MAX) return
    if (existing.some(({ name }) => name === file.name)) setReplacing(file)
    else add.mutate(file)
  }
  return (
    <div className="form pad">
      {add.error && <Failed error={add.error} />}
      {isTooLarge && <p className="say bad">{t('attachments.tooLarge')}</p>}
      <Switch
        label={t('attachments.inline')}
        description={t('attachments.inlineAbout')}
        checked={isInline}
        onChange={(event) => setInline(event.currentTarget.checked)}
      />
      <div className="acts">
        <FileButton onChange={choose} resetRef={reset}>
          {(props) => (
            <Button {...props} size="xs" variant="default" loading={add.isPending}>
              {t('attachments.add')}
            </Button>
          )}
        </FileButton>
      </div>
      <ConfirmWrite
        isOpen={replacing !== null}
        onClose={() => setReplacing(null)}
        title={t('attachments.replaceTitle', { name: replacing?.name ?? null })}
        action={t('attachments.replaceAction')}
        write={async (api) => replacing && put(api, replacing)}
        changes={[ATTACHMENTS]}
        done={t('attachments.replaced', { name: replacing?.name ?? null })}
      >
        <p>{t('attachments.replaceAbout')}</p>
      </ConfirmWrite>
    </div>
  )
}
