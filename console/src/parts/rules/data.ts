/** What rules are made of, and what they can be about. */
import type { CarillonError } from '@carillon/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useRead, useReadAll } from '../data.ts'
import type { Meta } from './rule.ts'

const NAMES_MAX = 100
const SLOWLY = { staleTime: 60_000 }

/** What rules are made of. */
export function useMeta(): UseQueryResult<Meta, CarillonError> {
  return useRead('/api/client/rules/meta', undefined, { staleTime: Number.POSITIVE_INFINITY }) as unknown as UseQueryResult<
    Meta,
    CarillonError
  >
}

/** The attributes of users, with the types of their values. */
export function useAttributes(): {
  types: Map<string, string[]>
  users: number | undefined
  samples: Map<string, string[]>
  /** What the team calls them. */
  labels: Map<string, string>
} {
  const { data } = useRead('/api/client/schema/attributes', undefined, SLOWLY)
  return {
    types: new Map(data?.results.map(({ key, types }) => [key, types])),
    samples: new Map(data?.results.map(({ key, samples }) => [key, samples.map(String)])),
    labels: new Map(data?.results.flatMap(({ key, label }) => (label === undefined ? [] : [[key, label]]))),
    users: data?.people,
  }
}

/** The events that occurred, with the attributes of their data. */
export function useEvents() {
  return useRead('/api/client/schema/events', { query: { limit: NAMES_MAX } }, SLOWLY).data?.results ?? []
}

/** What conditions refer to by id. A kind that is not here is given by its number. */
const REFERENCES = {
  list: '/api/client/lists',
  subscription: '/api/client/subscriptions',
  campaign: '/api/client/campaigns',
  journey: '/api/client/journeys',
} as const

export type Reference = keyof typeof REFERENCES
export const isReference = (name: string): name is Reference => name in REFERENCES

/** The names of what a condition may refer to. */
export function useNames(kind: Reference): { value: string; label: string }[] {
  const { data } = useReadAll(REFERENCES[kind], {}, SLOWLY)
  return (data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))
}
