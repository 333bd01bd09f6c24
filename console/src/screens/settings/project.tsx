import { Button, Switch, Textarea, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { afterSave, useDraft, useEdited } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { useOrganisationRead, useOrganisationWrite } from '../../parts/organisation-data.ts'
import { Card } from '../../parts/page.tsx'
import { undoable } from '../../parts/toast.ts'
import { useSession } from '../../session/index.ts'
import { useProject } from '../../session/project.tsx'
import { DangerZone } from './delete-project.tsx'
import { changesBetween, linesOf } from './fields.ts'
import { IdentityFields } from './identity-fields.tsx'
import { PROJECT, type Project, type ProjectChanges } from './search.ts'

/** Name, locale, time zone, tracking and the texts of a project. */
export function ProjectSettings() {
  const { id } = useProject()
  const { role } = useSession()
  const project = useOrganisationRead(PROJECT, { path: { projectId: id } })
  // What is being typed stays when reading again fails.
  if (project.error && !project.data) return <Failed error={project.error} onRetry={() => void project.refetch()} />
  if (!project.data) return <Loading />
  return (
    <div className="stack">
      <Form stored={project.data} />
      {role !== 'member' && <DangerZone project={project.data} />}
    </div>
  )
}

type FieldsProps = { draft: Project; set: (changes: Partial<Project>) => void; isFixed: boolean }

function Form({ stored }: { stored: Project }) {
  const { t } = useTranslation('settings')
  const isFixed = useSession().role === 'member'
  const [draft, setDraft] = useDraft(stored)
  const set = (changes: Partial<Project>) => setDraft((draft) => ({ ...draft, ...changes }))
  const save = useOrganisationWrite(
    (api, { changes }: { changes: ProjectChanges; before?: ProjectChanges; sent?: Project }) =>
      api.patch(PROJECT, { path: { projectId: stored.id }, body: changes }),
    (saved, { before, sent }) => {
      if (sent) setDraft(afterSave(sent, saved))
      if (before) undoable(t('saved'), () => save.mutateAsync({ changes: before }))
    },
  )
  const changes = changesBetween(stored, draft)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ changes, before: changesBetween(draft, stored), sent: draft })
  }
  const fields = { draft, set, isFixed }
  return (
    <form className="stack" onSubmit={submit}>
      {isFixed && <p className="say">{t('admins')}</p>}
      {save.error && <Failed error={save.error} />}
      <div className="cols two">
        <div className="stack">
          <General {...fields} />
          <TextMessages {...fields} />
        </div>
        <div className="stack">
          <Tracking {...fields} />
          <TestRecipients {...fields} />
        </div>
      </div>
      {!isFixed && (
        <div>
          <Button type="submit" loading={save.isPending} disabled={Object.keys(changes).length === 0}>
            {t('save')}
          </Button>
        </div>
      )}
    </form>
  )
}

/** An empty text is none. */
const orNull = (text: string) => (text === '' ? null : text)

function General({ draft, set, isFixed }: FieldsProps) {
  const { t } = useTranslation('settings')
  return (
    <Card title={t('general.heading')}>
      <div className="form pad">
        <IdentityFields draft={draft} set={set} isFixed={isFixed} />
        <TextInput
          label={t('general.website')}
          inputMode="url"
          disabled={isFixed}
          value={draft.website_url ?? ''}
          onChange={(event) => set({ website_url: orNull(event.currentTarget.value) })}
        />
        <Textarea
          label={t('general.description')}
          disabled={isFixed}
          maxLength={5000}
          autosize
          minRows={2}
          value={draft.description ?? ''}
          onChange={(event) => set({ description: orNull(event.currentTarget.value) })}
        />
      </div>
    </Card>
  )
}

function Tracking({ draft, set, isFixed }: FieldsProps) {
  const { t } = useTranslation('settings')
  return (
    <Card title={t('tracking.heading')}>
      <div className="form pad">
        <Switch
          label={t('tracking.links')}
          description={t('tracking.linksAbout')}
          disabled={isFixed}
          checked={draft.link_wrap_email}
          onChange={(event) => set({ link_wrap_email: event.currentTarget.checked })}
        />
        <Switch
          label={t('tracking.push')}
          disabled={isFixed}
          checked={draft.link_wrap_push}
          onChange={(event) => set({ link_wrap_push: event.currentTarget.checked })}
        />
        <Switch
          label={t('tracking.opens')}
          description={t('tracking.opensAbout')}
          disabled={isFixed}
          checked={draft.track_opens_email === true}
          onChange={(event) => set({ track_opens_email: event.currentTarget.checked })}
        />
        <TextInput
          label={t('tracking.deeplinks')}
          description={t('tracking.deeplinksAbout')}
          type="url"
          disabled={isFixed}
          placeholder="https://www.example.com"
          value={draft.deeplink_mirror_url}
          onChange={(event) => set({ deeplink_mirror_url: event.currentTarget.value })}
        />
      </div>
    </Card>
  )
}

function TextMessages({ draft, set, isFixed }: FieldsProps) {
  const { t } = useTranslation('settings')
  const field = (name: 'text_opt_out_message' | 'text_help_message') => (
    <Textarea
      label={t(`texts.${name}`)}
      description={t('texts.about')}
      disabled={isFixed}
      maxLength={1600}
      autosize
      minRows={2}
      value={draft[name] ?? ''}
      onChange={(event) => set({ [name]: orNull(event.currentTarget.value) })}
    />
  )
  return (
    <Card title={t('texts.heading')}>
      <div className="form pad">
        {field('text_opt_out_message')}
        {field('text_help_message')}
      </div>
    </Card>
  )
}

function TestRecipients({ draft, set, isFixed }: FieldsProps) {
  const { t } = useTranslation('settings')
  const { edited: text, edit, give } = useEdited(draft.test_recipients, (lines) => lines.join('\n'))
  return (
    <Card title={t('recipients.heading')}>
      <div className="form pad">
        <Textarea
          label={t('recipients.label')}
          description={t('recipients.about')}
          disabled={isFixed}
          autosize
          minRows={3}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            const test_recipients = linesOf(event.currentTarget.value)
            edit(event.currentTarget.value)
            give(test_recipients)
            set({ test_recipients })
          }}
        />
      </div>
    </Card>
  )
}
