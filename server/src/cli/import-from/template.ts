/** `carillon import-from … template`: a file with a template becomes the draft of a campaign. */
import { readFile } from 'node:fs/promises'
import type { Call } from '../call-api.ts'
import { CommandError } from '../command.ts'
import { objectIn, type Product, textOf } from './product.ts'

export type TemplateOptions = { subscriptionId: number | undefined; name: string | undefined; subject: string | undefined; locale: string }

type Content = {
  name: string | undefined
  subject: string | undefined
  preheader: string | undefined
  from: string | undefined
  html: string
}

/** Creates a draft with the template. Returns the lines to print. */
export async function importTemplate(path: string, product: Product, options: TemplateOptions, call: Call): Promise<string[]> {
  const content = await contentOf(path)
  const name = options.name ?? content.name
  const subject = options.subject ?? content.subject
  if (options.subscriptionId === undefined) throw new CommandError('Pass --subscription, the id of the subscription type of the campaign.')
  if (!name || !subject) throw new CommandError(`${path} has no name or no subject. Pass --name and --subject.`)
  const parts = {
    subject,
    html: content.html,
    ...(content.preheader && { preheader: content.preheader }),
    ...(content.from && { from: content.from }),
  }
  const converted = Object.entries(parts).map(([member, text]) => [member, product.convert(text)] as const)
  const campaign = await call('POST', '/api/client/campaigns', { type: 'blast', name, subscription_id: options.subscriptionId })
  const template = Object.fromEntries(converted.map(([member, { text }]) => [member, text]))
  const left = [...new Set(converted.flatMap(([, { left }]) => left))]
  const notes =
    left.length === 0 ? [] : [`These parts were not converted. Correct them in the template before you send it: ${left.join(' ')}`]
  try {
    const { findings } = await call('PUT', `/api/client/campaigns/${campaign.id}/templates/${options.locale}`, template)
    const messages = (findings as { message: string }[]).map(({ message }) => message)
    return [`Campaign ${campaign.id} “${name}” has been created as a draft with the template.`, ...notes, ...messages]
  } catch (error) {
    await call('DELETE', `/api/client/campaigns/${campaign.id}`)
    throw error instanceof CommandError && notes.length > 0 ? new CommandError(`${error.message}\n${notes.join('\n')}`) : error
  }
}

/** A file in HTML, or a template as an API of the product returns it. */
async function contentOf(path: string): Promise<Content> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${path} cannot be read (${error.code}).`)
  })
  if (!text.trimStart().startsWith('{')) return { name: undefined, subject: undefined, preheader: undefined, from: undefined, html: text }
  const outer = objectIn(text)
  const inner = ['content', 'data', 'template', 'campaign'].map((member) => objectIn(outer[member])).find((value) => textOf(value.body))
  const { body, html, subject, name, template_name, preheader, preheader_text, from, from_email } = inner ?? outer
  const markup = textOf(body) ?? textOf(html)
  if (markup === undefined) throw new CommandError(`${path} has no template: neither \`body\` nor \`html\`.`)
  return {
    name: textOf(name) ?? textOf(template_name),
    subject: textOf(subject),
    preheader: textOf(preheader) ?? textOf(preheader_text),
    from: textOf(from) ?? textOf(from_email),
    html: markup,
  }
}
