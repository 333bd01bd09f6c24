import { describe, expect, test } from 'vitest'
import { blastTo, listOf, pathOf } from '../../../../test/blasts.ts'
import { type World, world } from '../../../../test/world.ts'
import type { Attachment } from '../../../lib/mime/compose.ts'
import { allAttachments, type SendableTemplate, sendableTemplatesOf } from '../../templates/index.ts'
import { attachmentsOfSlice, createAttachments, createByteBudget } from './attachments.ts'

const KB = 1000

describe('the memory of files that are being sent', () => {
  test('is bounded, first come, first served; one larger than the bound is sent alone', async () => {
    const { holding } = createByteBudget(30 * KB)
    const [started, ended]: [number[], number[]] = [[], []]
    const running = new Map<number, () => void>()
    const sizes = [20, 10, 10, 50, 10].map((size) => size * KB)
    const sending = sizes.map((bytes, at) =>
      holding(bytes, async () => {
        started.push(at)
        await new Promise<void>((resolve) => running.set(at, resolve))
        ended.push(at)
      }),
    )
    const end = async (at: number) => {
      running.get(at)?.()
      await sending[at]
    }
    await Promise.resolve()
    expect(started).toEqual([0, 1])
    await end(0)
    expect(started).toEqual([0, 1, 2])
    await end(1)
    expect(started).toEqual([0, 1, 2])
    await end(2)
    expect(started).toEqual([0, 1, 2, 3])
    await end(3)
    expect(started).toEqual([0, 1, 2, 3, 4])
    await end(4)
    expect(ended).toEqual([0, 1, 2, 3, 4])
  })

  test('is given back by a failure, and messages without files do not wait', async () => {
    const { holding } = createByteBudget(10)
    await expect(
      holding(10, async () => {
        throw new Error('lost')
      }),
    ).rejects.toThrow('lost')
    const held = holding(10, () => new Promise(() => undefined))
    expect(await holding(0, async () => 'sent')).toBe('sent')
    void held
  })
})

/** A template with a file, and a context that counts statements. */
async function withFile(w: World) {
  const campaign = await blastTo(w, [await listOf(w, 'ana')])
  const path = `${pathOf(campaign)}/templates/en/attachments/a.txt`
  const put = (text: string) => w.put(path, { content_type: 'text/plain', content: Buffer.from(text).toString('base64') })
  await put('first')
  let statements = 0
  const many: typeof w.ctx.db.many = (row, statement) => {
    statements++
    return w.ctx.db.many(row, statement)
  }
  const templateOf = async () => (await sendableTemplatesOf(w.ctx, [campaign.id]))[0] as SendableTemplate
  return { put, ctx: { ...w.ctx, db: { ...w.ctx.db, many } }, statements: () => statements, templateOf }
}

const textOf = (files: readonly Attachment[] | null) => files?.map(({ content }) => Buffer.from(content).toString())

describe('the files of a template', () => {
  test('are read once for its version, also by slices at the same time', async () => {
    await using w = await world()
    const { ctx, statements, templateOf, put } = await withFile(w)
    const { ofTemplate } = createAttachments()
    const template = await templateOf()
    const all = await Promise.all(Array.from({ length: 20 }, () => ofTemplate(ctx, template)))
    expect(all.map(textOf)).toEqual(all.map(() => ['first']))
    await ofTemplate(ctx, await templateOf())
    expect(statements()).toBe(1)
    await put('later')
    expect(textOf(await ofTemplate(ctx, await templateOf()))).toEqual(['later'])
    expect(statements()).toBe(2)
  })

  test('are not those of another version: the message is tried again with that', async () => {
    await using w = await world()
    const { ctx, templateOf, put } = await withFile(w)
    const { ofTemplate } = createAttachments()
    const template = await templateOf()
    await put('a longer one')
    expect(await ofTemplate(ctx, template)).toBeNull()
    expect(
      (await attachmentsOfSlice(ctx, { ofTemplate, holding: createByteBudget(1).holding }, [{ ready: { eligible: { template } } }])).size,
    ).toBe(0)
    expect(textOf(await ofTemplate(ctx, await templateOf()))).toEqual(['a longer one'])
  })

  test('that cannot be read are read again', async () => {
    await using w = await world()
    const { ctx, templateOf } = await withFile(w)
    const { ofTemplate } = createAttachments()
    const template = await templateOf()
    const broken = { ...ctx, db: { ...ctx.db, many: () => Promise.reject(new Error('lost')) } }
    await expect(ofTemplate(broken, template)).rejects.toThrow('lost')
    expect(textOf(await ofTemplate(ctx, template))).toEqual(['first'])
  })
})

test('a template without files reads nothing', async () => {
  const none = { attachment_bytes: 0 } as SendableTemplate
  expect(await createAttachments().ofTemplate(undefined as never, none)).toEqual([])
})

test('a file of the request replaces the one of the template with its content id', () => {
  const file = (name: string, contentId?: string) => ({
    name,
    contentType: 'a/b',
    content: Buffer.alloc(1),
    ...(contentId && { contentId }),
  })
  const merged = allAttachments([file('a', 'x'), file('b', 'y'), file('c')], [file('d', 'x'), file('c')])
  expect(merged.map(({ name }) => name)).toEqual(['b', 'c', 'd', 'c'])
})
