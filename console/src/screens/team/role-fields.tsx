import { Radio, Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { merge } from '../../parts/merge.ts'
import type { OrganisationRole } from '../../session/api.ts'
import { useSession } from '../../session/index.ts'
import { type Member, type MemberRole, PROJECT_ROLES, rolesToGive } from './member.ts'

/** The roles of a member, in the organisation and in its projects. */
export type Given = { role: OrganisationRole; projects: Member['projects'] }

type Props = { given: Given; onChange: (given: Given) => void }

/** The name of a member. */
export function NameField({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  const { t } = useTranslation('team')
  return (
    <TextInput
      label={t('column.name')}
      autoComplete="off"
      required
      value={name}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Chooses the role in the organisation, and for a `member` the role in each project. */
export function RoleFields({ given, onChange }: Props) {
  const { t } = useTranslation('team')
  const session = useSession()
  const { role, projects } = given
  const roleIn = (id: number) => projects.find(({ project_id }) => project_id === id)?.role ?? null
  const setRole = (id: number, role: MemberRole | null) => {
    const others = projects.filter(({ project_id }) => project_id !== id)
    onChange({ ...given, projects: role === null ? others : [...others, { project_id: id, role }] })
  }
  return (
    <>
      <Radio.Group label={t('column.role')} value={role} onChange={(role) => onChange({ ...given, role: role as OrganisationRole })}>
        {rolesToGive(session).map((role) => (
          <Radio key={role} mt="xs" value={role} label={t(`role.${role}`)} description={t(`roleAbout.${role}`)} />
        ))}
      </Radio.Group>
      {role === 'member' &&
        session.projects.map(({ id, name }) => (
          <Select
            key={id}
            label={t('roleIn', { name })}
            placeholder={t('noRole')}
            clearable
            clearButtonProps={{ 'aria-label': t('noRoleIn', { name }) }}
            data={[...PROJECT_ROLES]}
            value={roleIn(id)}
            onChange={(role) => setRole(id, role as MemberRole | null)}
          />
        ))}
    </>
  )
}

const byProject = (projects: Given['projects']): Record<string, MemberRole> =>
  Object.fromEntries(projects.map(({ project_id, role }) => [project_id, role]))

/** The roles in projects of `mine`, with those that another member has given, changed or removed since `base`. */
export const mergeProjects = (...[base, mine, theirs]: [Given['projects'], Given['projects'], Given['projects']]): Given['projects'] =>
  Object.entries(merge(byProject(base), byProject(mine), byProject(theirs)).value).map(([id, role]) => ({ project_id: Number(id), role }))

/** The roles as the API takes them. Admins and owners have none in projects. */
export const rolesOf = ({ role, projects }: Given): Given => ({ role, projects: role === 'member' ? projects : [] })
