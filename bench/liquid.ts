/** Emails rendered per second of processor time, compared with liquidjs alone in alternating rounds of one run. */
import { RenderBudget } from '../server/src/lib/liquid/budget.ts'
import { createEngine } from '../server/src/lib/liquid/engine.ts'
import { parseTemplate } from '../server/src/lib/liquid/liquid.ts'
import { heavyMail } from './sending.ts'
import { report } from './support.ts'

const MAILS = 1000
const ROUNDS = 5
const BYTES = 20_000

const filler =
  '<table role="presentation"><tr><td style="padding:8px;font-family:sans-serif;color:#333">Carillon rings for you.</td></tr></table>\n'

/** The receipt of a shop: a loop with conditions and filters, in 20 KB of HTML. */
const receipt = `<h1>Thank you, {{ user.data.first_name | default: "friend" | capitalize }}!</h1>
{%- assign total = 0 %}
{% if event.order.items.size > 0 %}<table>{% for item in event.order.items %}
  <tr class="{% cycle "odd", "even" %}"><td>{{ forloop.index }}</td><td>{{ item.name | truncate: 24 }}{% unless item.in_stock %} (later){% endunless %}</td>
  <td>{{ item.price | times: item.count | money: "AUD" }}</td></tr>{% assign total = item.price | times: item.count | plus: total %}
  {% if item.tags contains "gift" %}<tr><td>A gift for {{ item.recipient | default: user.data.first_name }}</td></tr>{% endif %}{% endfor %}</table>
{% endif %}<p>Total: {{ total | money: "AUD" }}, ordered {{ event.at | in_zone | date: "%d.%m.%Y %H:%M" }}</p>
{% case user.data.plan %}{% when "pro", "gold" %}<p>Delivery is free.</p>{% else %}<p>Delivery: {{ 9.5 | money: "AUD" }}</p>{% endcase %}
${Array.from({ length: 5 }, (_, at) => `<p><a href="https://shop.example/c/${at}?u={{ user.id }}">More</a></p>`).join('\n')}
${filler.repeat(Math.round(BYTES / filler.length))}`

const scope = {
  user: { id: 7, locale: 'en-AU', timezone: 'Australia/Sydney', data: { first_name: 'Ana', city: 'Perth', plan: 'pro' } },
  project: { name: 'Shop', locale: 'en-AU', timezone: 'UTC' },
  event: {
    at: '2026-11-20T23:30:00Z',
    order: {
      number: 'A-1001',
      items: Array.from({ length: 6 }, (_, at) => ({
        name: `Tea of the ${at}th garden, first flush`,
        price: at + 0.5,
        count: 2,
        in_stock: at % 2 === 0,
        tags: at === 3 ? ['gift'] : [],
      })),
    },
  },
}

export async function liquid(): Promise<void> {
  compare('Liquid: the mail of a blast, 20 KB', heavyMail().html)
  compare('Liquid: a receipt, 20 KB', receipt)
}

function compare(name: string, html: string): void {
  const engine = createEngine('html')
  const templates = engine.parse(html)
  const template = parseTemplate(html, { escape: true })
  const own = () => template.render(scope)
  const theirs = () => engine.renderWithin(new RenderBudget(), templates, scope)
  if (own() !== theirs()) throw new Error('The engines render different texts.')
  perSecond(own)
  perSecond(theirs)
  const rates = Array.from({ length: ROUNDS }, () => ({ own: perSecond(own), theirs: perSecond(theirs) }))
  const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number
  const [ownRate, theirRate] = [middle(rates.map(({ own }) => own)), middle(rates.map(({ theirs }) => theirs))]
  report(name, ownRate / theirRate, `${micros(ownRate)} µs a mail; liquidjs ${micros(theirRate)} µs`, '≥ 8')
}

const micros = (rate: number) => (1e6 / rate).toFixed(1)

function perSecond(render: () => string): number {
  const before = process.cpuUsage()
  // Reading a character joins the parts of the text, as sending it would.
  for (let at = 0; at < MAILS; at++) render().charCodeAt(0)
  const { user, system } = process.cpuUsage(before)
  return MAILS / ((user + system) / 1e6)
}
