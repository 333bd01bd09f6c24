import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { describe, expect, test } from 'vitest'
import { LiquidError, MissingVariable } from '../../lib/liquid/liquid.ts'
import { CHANNELS, type Channel } from '../../lib/shapes.ts'
import { checkContent, compileContent, contentOf, renderContent, requiredOf } from './content.ts'
import { isMailbox, splitAddresses } from './kinds/email.ts'
import * as registry from './kinds/index.ts'

const kinds = { ...registry }

const faultsOf = (channel: Channel, content: unknown) => checkContent(channel, content).faults.map(({ code, param }) => [code, param])

test.each(CHANNELS)('a complete %s template is accepted', (channel) => {
  const { sample } = kinds[channel]
  expect(checkContent(channel, structuredClone(sample))).toEqual({ faults: [], content: sample })
})

const manyHeaders = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-${at}`, 'v']))

describe('checkContent refuses', () => {
  test.each<[Channel, unknown, string, string]>([
    ['email', { html: 'x' }, 'parameter_missing', 'subject'],
    ['email', { subject: 's' }, 'parameter_missing', 'html'],
    ['email', { subject: ' ', html: 'x' }, 'parameter_invalid_empty', 'subject'],
    ['email', { subject: 'a\nBcc: b@example.com', html: 'x' }, 'parameter_invalid_format', 'subject'],
    ['email', { subject: 's', html: 'x', from: 'Ana' }, 'parameter_invalid_format', 'from'],
    ['email', { subject: 's', html: 'x', from: 'a@example.com, b@example.com' }, 'parameter_invalid_format', 'from'],
    ['email', { subject: 's', html: 'x', cc: 'a@example.com, b' }, 'parameter_invalid_format', 'cc'],
    ['email', { subject: 's', html: 'x', body: 'x' }, 'parameter_unknown', 'body'],
    ['email', { subject: '{{ x', html: 'x' }, 'validation_failed', 'subject'],
    ['email', { subject: 's', html: 'x', mjml: 'x' }, 'validation_failed', 'mjml'],
    ['email', { subject: 's', mjml: '\n{% if %}' }, 'validation_failed', 'mjml'],
    ['text', { body: 'x', required: ['user.data.name', 'a | b'] }, 'parameter_invalid_format', 'required[1]'],
    ['text', { body: 'x', required: 'user' }, 'parameter_invalid_format', 'required'],
    ['text', {}, 'parameter_missing', 'body'],
    ['text', { body: 7 }, 'parameter_invalid_format', 'body'],
    ['text', { body: 'x'.repeat(5001) }, 'validation_failed', 'body'],
    ['push', { title: 't', body: 'b', custom: { a: { b: ['ok', '{% if %}'] } } }, 'validation_failed', 'custom.a.b[1]'],
    ['push', { title: 't', body: 'b', custom: { a: 'x'.repeat(5000) } }, 'validation_failed', 'custom'],
    ['webhook', { endpoint: 'ftp://example.com' }, 'parameter_invalid_format', 'endpoint'],
    ['webhook', { endpoint: 'https://example.com', method: 'HEAD' }, 'parameter_invalid_format', 'method'],
    ['webhook', { endpoint: 'https://example.com', headers: { 'X-A': 1 } }, 'parameter_invalid_format', 'headers.X-A'],
    ['webhook', { endpoint: 'https://example.com', headers: { 'X-A': 'a\r\nb' } }, 'parameter_invalid_format', 'headers.X-A'],
    ['webhook', { endpoint: 'https://example.com', headers: { 'X A': 'a' } }, 'parameter_unknown', 'headers.X A'],
    ['webhook', { endpoint: 'https://example.com', headers: { 'X-A': '{{' } }, 'validation_failed', 'headers.X-A'],
    ['webhook', { endpoint: 'https://example.com', headers: manyHeaders(51) }, 'validation_failed', 'headers'],
    ['in_app', { title: 't', body: 'b', expires_at: 'tomorrow' }, 'parameter_invalid_format', 'expires_at'],
    ['in_app', { title: 't', body: 'b', type: 'popup' }, 'parameter_invalid_format', 'type'],
  ])('for %s the content %j with %s at %s', (channel, content, code, param) => expect(faultsOf(channel, content)).toEqual([[code, param]]))

  test('too many Liquid tags', () => {
    expect(faultsOf('email', { subject: 's', html: '{{ x }}'.repeat(3001) })).toEqual([['validation_failed', 'html']])
    expect(faultsOf('email', { subject: 's', html: '{{ x }}'.repeat(3000) })).toEqual([])
  })

  test('invalid Liquid, with its line', () => {
    const { faults } = checkContent('email', { subject: 's', html: '<p>\n<b>\n{% endfor %}' })
    expect(faults).toEqual([
      { code: 'validation_failed', param: 'html', message: 'The Liquid in `html` is invalid on line 3: tag "endfor" not found.' },
    ])
  })
})

describe('rendering', () => {
  const scope = { user: { external_id: 'kim', data: { name: '<Kim>' } }, event: { id: 'e1' } }

  test('escapes values in HTML members only', () => {
    expect(renderContent('email', { subject: 'Hi {{ user.data.name }}', html: '<p>{{ user.data.name }}</p>' }, scope)).toEqual({
      subject: 'Hi <Kim>',
      html: '<p>&lt;Kim&gt;</p>',
    })
    expect(renderContent('in_app', { title: '{{ user.data.name }}', html: '{{ user.data.name }}' }, scope)).toEqual({
      title: '<Kim>',
      html: '&lt;Kim&gt;',
    })
  })

  test('counts anew in each member, and leaves the scope as it was', () => {
    const text = '{% increment n %}{% increment n %}{% decrement m %}'
    expect(renderContent('email', { subject: text, html: text, text }, scope)).toEqual({ subject: '01-1', html: '01-1', text: '01-1' })
    expect(renderContent('push', { title: text, custom: { a: [text] } }, scope)).toEqual({ title: '01-1', custom: { a: ['01-1'] } })
    expect(Object.keys(scope)).toEqual(['user', 'event'])
  })

  test('renders strings inside objects and keeps other values', () => {
    expect(renderContent('push', { title: 't', custom: { a: [{ b: '{{ event.id }}' }], n: 3, none: null } }, scope)).toEqual({
      title: 't',
      custom: { a: [{ b: 'e1' }], n: 3, none: null },
    })
  })
})

describe('required variables', () => {
  const content = { body: 'Hi {{ user.data.name }}' }
  test.each<[unknown, boolean]>([
    ['Ana', true],
    [0, true],
    [false, true],
    [['x'], true],
    [undefined, false],
    [null, false],
    ['', false],
    [' \n', false],
    [[], false],
  ])('the value %j is sufficient: %s', (name, isEnough) => {
    const render = () => renderContent('text', content, { user: { data: { name } } }, ['user.data.name'])
    if (isEnough) expect(render).not.toThrow()
    else expect(render).toThrow(MissingVariable)
  })

  test('a missing one is named in the error, and other missing variables render as nothing', () => {
    const render = () => renderContent('text', content, { user: { data: {} } }, ['user.data', 'user.data["first name"]'])
    expect(render).toThrow(LiquidError)
    expect(render).toThrow("the required variable `user.data['first name']` is empty")
    const dotted = (path: string) => () => renderContent('text', content, { user: { data: { a: { b: 1 } } } }, [path])
    for (const path of ['user.data.a\\.b', 'user.data["a.b"]']) {
      expect(dotted(path)).toThrow('the required variable `user.data.a\\.b` is empty')
    }
    expect(dotted('user.data.a.b')).not.toThrow()
    expect(renderContent('text', content, { user: {} })).toEqual({ body: 'Hi ' })
    expect(() => renderContent('text', content, {}, ['user.constructor'])).toThrow(MissingVariable)
  })
})

describe('compiling', () => {
  const compiled = async (channel: Channel, content: Record<string, unknown>) => {
    const result = await compileContent(channel, content, 'fr-CA')
    return 'compiled' in result ? result.compiled : result.faults
  }

  test('generates the plain text of an email, with its Liquid, unless it has one', async () => {
    const html = '<p>Hi {{ user.data.name }}</p><a href="{{ unsubscribe_url }}">Stop</a>'
    expect(await compiled('email', { subject: 's', html })).toEqual({
      html: `<html lang="fr-CA">${html}`,
      text: 'Hi {{ user.data.name }}\n\nStop ({{ unsubscribe_url }})',
    })
    expect(await compiled('email', { subject: 's', html, text: 'Own' })).toEqual({ html: `<html lang="fr-CA">${html}`, text: 'Own' })
    expect(await compiled('text', { body: 'x' })).toEqual({})
  })

  test.each([
    ['<p>Use &#123;&#123; in code</p>', 'Use {{ in code'],
    ['<p>{<b>{</b> x</p>', '{{ x'],
    ['<p>&#123;&#123; user.nope | nofilter &#125;&#125;</p>', '{{ user.nope | nofilter }}'],
    ['<p>Write {&#8203;{ user.email }} here</p>', 'Write {{ user.email }} here'],
    ['<p>Hi {{ user.email }} &#123;% if %}</p>', 'Hi kim@example.com {% if %}'],
    ['<p>{<b>{{ user.email }}</b>{</p>{% if user %}%{% endif %}', '{kim@example.com{\n\n%'],
    ['<p>{% raw %}{{ x }}{% endraw %} &#123;% endraw %}</p>', '{{ x }} {% endraw %}'],
    ['<a href="https://example.com/&#123;{x}}">Go</a>', 'Go (https://example.com/{{x}})'],
    [`<p>${'&#123;'.repeat(50)}</p>`, '{'.repeat(50)],
  ])('the plain text of %s has the braces that a reader sees', async (html, text) => {
    const members = (await compiled('email', { subject: 's', html })) as { html: string; text: string }
    expect(renderContent('email', members, { user: { email: 'kim@example.com' } }).text).toBe(text)
  })

  const htmlOf = async (data: Record<string, unknown>) =>
    (await compiled('email', { subject: 's', ...data })) as { html: string; text: string }
  const mjmlOf = (root = '<mjml>') =>
    `${root}<mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>`
  /** The elements that a parser puts into the body, and the text of the first. */
  const bodyOf = (html: string) => {
    const root = parse(html).childNodes.find(({ nodeName }) => nodeName === 'html') as DefaultTreeAdapterTypes.Element
    const body = root.childNodes.find(({ nodeName }) => nodeName === 'body') as DefaultTreeAdapterTypes.Element
    const [first] = body.childNodes as DefaultTreeAdapterTypes.Element[]
    return { root, first, text: first?.childNodes?.map((node) => ('value' in node ? node.value : '')).join('') ?? '' }
  }
  const attributeOf = ({ attrs }: DefaultTreeAdapterTypes.Element, name: string) =>
    attrs.find((attribute) => attribute.name === name)?.value

  test.each([
    ['<html><body class="a">\n<p>Hi</p></body></html>', '<body class="a">'],
    ['<!doctype html><html><head><title>T</title></head><body><p>Hi</p></body></html>', '<body>'],
    ['<!doctype html><html><head><title>T</title></head><p>Hi</p></html>', '</head>'],
    ['<!doctype html><html><p>Hi</p></html>', '<html lang="fr-CA">'],
    ['<!DOCTYPE html>\n<p>Hi</p>', '<!DOCTYPE html><html lang="fr-CA">'],
    ['<p>Hi</p>', '<html lang="fr-CA">'],
    ['<!-- <body> --><body><p>Hi</p>', '--><body>'],
  ])('puts the preheader at the start of the body of %s, hidden, escaped and padded', async (html, before) => {
    const email = await htmlOf({ html, preheader: 'A & <b> {{ user.data.name }}' })
    expect(email.html).toContain(`${before}<div style="display:none`)
    expect(email.html).toContain('">A &#38; &#60;b&#62; {{ user.data.name }}&#847;')
    const { first, text } = bodyOf(email.html)
    expect(first?.nodeName).toBe('div')
    expect(text).toMatch(/^A & <b> \{\{ user.data.name \}\}(?:\u034F\u200C\u00A0){100,}$/)
    expect(email.text).toBe('Hi')
  })

  test.each([
    ['<style>p{color:red}</style><p>Hi</p>', '</style>'],
    ['<!doctype html><html><title>T</title><!-- c -->\n<style>p{}</style>\n<p>Hi</p>', '</style>'],
    ['<meta charset="utf-8"><link rel="icon" href="x">{% assign a = 1 %}<style>{{ css }}</style>{{ a }}<p>Hi</p>', '</style>'],
    ['<html><head><style>p{}</style></head><style>b{}</style><p>Hi</p>', '<style>b{}</style>'],
    ['<html><head><style>p{}</style><p>Hi</p>', '</style>'],
    ['{% if x %}<style>p{}</style>{% else %}<style>b{}</style>{% endif %}<p>Hi</p>', '{% endif %}'],
    ['<style>p{}</style>{% if x %}<style>b{}</style><p>Hi</p>{% endif %}', '<style>p{}</style>'],
    ['{% raw %}<style>{% endraw %}</style>', '<html lang="fr-CA">'],
  ])('leaves what a parser puts into the head of %s there', async (html, before) => {
    const email = await htmlOf({ html, preheader: 'News' })
    expect(email.html).toContain(`${before}<div style="display:none`)
    if (html.includes('{%')) return
    const { root, first } = bodyOf(email.html)
    expect(first?.nodeName).toBe('div')
    const [head] = root.childNodes as DefaultTreeAdapterTypes.Element[]
    expect(head?.childNodes.filter(({ nodeName }) => nodeName === 'style')).toHaveLength(html.split('<style>').length - 1)
  })

  test('puts the preheader of an email in MJML into its body, and into each body of a condition', async () => {
    const made = bodyOf((await htmlOf({ mjml: mjmlOf(), preheader: 'News' })).html)
    expect(made.text).toMatch(/^News\u034F/)
    const branches = await htmlOf({ html: '{% if x %}<body dir="rtl">{% else %}<body>{% endif %}Hi</body>', preheader: 'News' })
    expect(branches.html).toMatch(/<body dir="rtl"><div[^>]*>News[^<]*<\/div>\{% else %\}<body><div[^>]*>News[^<]*<\/div>\{% endif %\}Hi/)
  })

  test.each([
    ['<!doctype html><html><body>Hi</body></html>', 'fr-CA'],
    ['<html dir="ltr"><body>Hi</body></html>', 'fr-CA'],
    ['<html lang=""><body>Hi</body></html>', 'fr-CA'],
    ["<html lang='und' dir=ltr><body>Hi</body></html>", 'fr-CA'],
    ['<html lang="mi"><body>Hi</body></html>', 'mi'],
    ['<html lang="{{ user.locale }}"><body>Hi</body></html>', '{{ user.locale }}'],
    ['<p>Hi</p>', 'fr-CA'],
    ['<!doctype html>\n<head><title>T</title></head><body>Hi</body>', 'fr-CA'],
    ['<!-- <html> --><!--[if mso]><p>Outlook</p><![endif]--><p lang="de">Hi</p>', 'fr-CA'],
    ['{{ user.data.html }}', 'fr-CA'],
  ])('gives %s the language of the template unless it has one', async (html, expected) => {
    expect(attributeOf(bodyOf((await htmlOf({ html })).html).root, 'lang')).toBe(expected)
  })

  test('leaves a style at the beginning of HTML without a root element in the head', async () => {
    const { html } = await htmlOf({ html: '<style>p { color: red }</style><p>Hi</p>' })
    const [head] = bodyOf(html).root.childNodes as DefaultTreeAdapterTypes.Element[]
    expect(head?.childNodes.map(({ nodeName }) => nodeName)).toEqual(['style'])
  })

  test('leaves a root element in a condition alone', async () => {
    const html = '{% if x %}<html dir="rtl">{% else %}<html>{% endif %}<body>Hi</body></html>'
    expect((await htmlOf({ html })).html).toBe(html.replaceAll('<html', '<html lang="fr-CA"'))
  })

  test('leaves a language in a condition alone', async () => {
    const html = '<html{% if x %} lang="de"{% endif %}><body>Hi</body></html>'
    expect((await htmlOf({ html })).html).toBe(html)
  })

  test('gives an email in MJML the language of the template unless it has one', async () => {
    const { html } = await htmlOf({ mjml: mjmlOf() })
    expect(html.match(/ lang="[^"]*"/g)).toEqual([' lang="fr-CA"', ' lang="fr-CA"'])
    expect((await htmlOf({ mjml: mjmlOf('<mjml lang="mi">') })).html).toContain('<html lang="mi"')
  })

  test('replaces members by their compiled form', async () => {
    const mjml =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Hi {{ user.data.name }}</mj-text></mj-column></mj-section></mj-body></mjml>'
    const data = { subject: 's', mjml, required: ['user.data.name'] }
    const result = (await compiled('email', data)) as Record<string, string>
    const stored = { locale: 'fr-CA', data, compiled: result }
    expect(contentOf(stored)).toEqual({ subject: 's', html: result.html, text: 'Hi {{ user.data.name }}' })
    expect(requiredOf(stored)).toEqual(['user.data.name'])
    expect(renderContent('email', contentOf(stored), { user: { data: { name: '<Kim>' } } })).toMatchObject({
      html: expect.stringContaining('Hi &lt;Kim&gt;'),
      text: 'Hi <Kim>',
    })
  })

  test('happens on reading for an email that was saved without compiled content', () => {
    expect(contentOf({ locale: 'en', data: { subject: 's', html: '<p>Hi {{ x }}</p>' }, compiled: null })).toEqual({
      subject: 's',
      html: '<html lang="en"><p>Hi {{ x }}</p>',
      text: 'Hi {{ x }}',
    })
    expect(contentOf({ locale: 'en', data: { body: 'x' }, compiled: {} })).toEqual({ body: 'x' })
  })
})

test.each([
  ['ana@example.com', true],
  ['Ana <ana@example.com>', true],
  ['<ana@example.com>', true],
  ['"Doe, Jane" <jane@example.com>', true],
  ['Ana Lucía <ana@example.com>', true],
  ['Bells, Inc <hello@example.com>', true],
  ['Bells (Sydney): news <hello@example.com>', true],
  ['Ana', false],
  ['ana@example.com, Bo <bo@example.com>', false],
  ['Ana "Bo" <ana@example.com>', false],
  ['Ana <ana>', false],
  ['Ana <ana@example.com> x', false],
  ['a@example.com b@example.com', false],
])('isMailbox(%j) is %s', (text, expected) => expect(isMailbox(text)).toBe(expected))

test('splitAddresses splits at commas outside quotes', () => {
  expect(splitAddresses('"Doe, Jane" <j@example.com>, b@example.com').map((part) => part.trim())).toEqual([
    '"Doe, Jane" <j@example.com>',
    'b@example.com',
  ])
})
