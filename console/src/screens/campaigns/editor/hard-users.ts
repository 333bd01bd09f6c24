import type { components } from '@carillon/sdk'

type User = components['schemas']['User']

export const HARD = ['noName', 'longestName', 'otherLanguage', 'rightToLeft', 'missingData'] as const
export type Hard = (typeof HARD)[number]

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur'])

export const nameOf = ({ data }: User) => [data.first_name, data.last_name].filter((name) => typeof name === 'string').join(' ')

const languageOf = ({ locale }: User) => locale?.split('-')[0] ?? ''

/** The five users whose messages most often go wrong. `language` is that of the project. */
export function hardUsersOf(users: readonly User[], language: string | undefined): [Hard, User][] {
  const byName = users.toSorted((a, b) => nameOf(b).length - nameOf(a).length)
  const byData = users.toSorted((a, b) => Object.keys(a.data).length - Object.keys(b.data).length)
  const wanted: Record<Hard, User | undefined> = {
    noName: users.find((user) => nameOf(user) === '' && Object.keys(user.data).length > 0),
    longestName: byName[0],
    otherLanguage: users.find((user) => !['', language].includes(languageOf(user)) && !RIGHT_TO_LEFT.has(languageOf(user))),
    rightToLeft: users.find((user) => RIGHT_TO_LEFT.has(languageOf(user))),
    missingData: byData[0],
  }
  return HARD.flatMap((hard) => (wanted[hard] ? [[hard, wanted[hard]] satisfies [Hard, User]] : []))
}

/** Chooses users to preview a message for: those with unusual data first, then the first of the list. Each user appears once. */
export function sampleUsersOf(users: readonly User[], language: string | undefined, count: number): User[] {
  const hard = hardUsersOf(users, language).map(([, user]) => user)
  return [...new Map([...hard, ...users].map((user) => [user.id, user])).values()].slice(0, count)
}
