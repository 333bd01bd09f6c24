import type { CarillonError } from '@carillon/sdk'
import { Button } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'

type Props<T> = {
  title: string
  about: string
  /** The verb of the button. */
  action: string
  call: UseMutationResult<T, CarillonError, unknown>
  children: ReactNode
  result: (reply: T) => ReactNode
}

/** A utility: its fields, a button, and what it found. */
export function Tool<T>({ title, about, action, call, children, result }: Props<T>) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    call.mutate(undefined)
  }
  return (
    <Card title={title}>
      <form className="form pad" onSubmit={submit}>
        <p className="sm quiet">{about}</p>
        {children}
        <div>
          <Button type="submit" variant="default" loading={call.isPending}>
            {action}
          </Button>
        </div>
        {call.error && <Failed error={call.error} />}
        <output>{call.data !== undefined && !call.isPending && result(call.data)}</output>
      </form>
    </Card>
  )
}
