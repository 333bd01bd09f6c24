/** Templates and files that cost as much as their authors can make them. For the test and the benchmark that nothing waits for them. */

/** A template for email, to be previewed. */
export type EvilTemplate = { subject?: string; html?: string; mjml?: string }

const html = (text: string): EvilTemplate => ({ html: text })
const section = '<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>'
const mjml = (body: string, head = ''): EvilTemplate => ({ mjml: `<mjml><mj-head>${head}</mj-head><mj-body>${body}</mj-body></mjml>` })
const numbers = '{% assign a = (1..2000) | where_exp: "x", "true" %}'
const many = (count: number, part: (number: number) => string) => Array.from({ length: count }, (_, number) => part(number)).join('')

export const EVIL_TEMPLATES: Readonly<Record<string, EvilTemplate>> = {
  'deep nesting': html('{% if true %}'.repeat(1400) + '{% endif %}'.repeat(1400)),
  'a huge loop': html('{% for i in (1..9999999) %}x{% endfor %}'),
  'a loop within loops': html(`${'{% for i in (1..900) %}'.repeat(5)}x${'{% endfor %}'.repeat(5)}`),
  'a giant range': html('{{ (1..999999999999) | size }}'),
  'a string that doubles': html('{% assign s = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}{{ s }}'),
  'a list that contains itself': html(
    '{% assign a = "x" | split: "" %}{% for i in (1..40) %}{% assign a = a | push: a %}{% endfor %}{{ a | join }}',
  ),
  'a capture that doubles': html('{% for i in (1..60) %}{% capture s %}{{ s }}{{ s }}x{% endcapture %}{% endfor %}'),
  'sorting in a loop': html(`${numbers}{% for i in a %}{% assign b = a | reverse | sort | uniq %}{% endfor %}`),
  'expressions in a loop': html(`${numbers}{% for i in a %}{% assign b = a | where_exp: "x", "x > 1 and x < 5" %}{% endfor %}`),
  'searching in a loop': html(`${numbers}{% for i in a %}{% assign b = a | find_exp: "x", "x == 0" %}{% endfor %}`),
  'a long chain of filters': html(`{% for i in (1..1000) %}{{ i${' | plus: 1'.repeat(20_000)} }}{% endfor %}`),
  'a long condition': html(`{% for i in (1..1000) %}{% if true${' and true'.repeat(40_000)} %}x{% endif %}{% endfor %}`),
  'replacing in a long string': html(`{% assign s = "${'ab'.repeat(100_000)}" %}{{ s | replace: "a", s }}`),
  'joining with a long string': html(`{% assign s = "${'ab'.repeat(100_000)}" %}{{ s | split: "a" | join: s }}`),
  'words of a long string': html(
    `{% assign s = "${'a  '.repeat(100_000)}" %}{% for i in (1..1000) %}{{ s | truncatewords: 3 }}{% endfor %}`,
  ),
  'tags in a long string': html(`{% assign s = "${'<'.repeat(400_000)}" %}{% for i in (1..1000) %}{{ s | strip_html | size }}{% endfor %}`),
  'a wide date': html('{% for i in (1..1000) %}{{ "now" | date: "%9999999Y" }}{% endfor %}'),
  '3000 different variables': html(many(3000, (number) => `{{ user.data.a${number}[user.b${number}] | default: c${number} }}`)),
  'thousands of tags that are not closed': html('{% if x %}'.repeat(2900)),
  'a quarter of a million {{': html('{{'.repeat(249_000)),
  'a quarter of a million {%': html('{%'.repeat(249_000)),
  'lines of one tag': html(`{% liquid\n${'echo a\n'.repeat(60_000)}%}`),
  'half a million <': html('<'.repeat(499_000)),
  'half a million quotes': html(`<a title=${'"'.repeat(499_000)}>`),
  'links that are not closed': html('<a href="https://example.com/'.repeat(17_000)),
  'nested elements': html('<div>'.repeat(99_000)),
  'comments that are not closed': html('<!--'.repeat(120_000)),
  attributes: html(`<a ${many(60_000, (number) => `a${number} `)}>`),
  'tables in tables': html('<table><tr><td>'.repeat(30_000)),
  'rules times elements': mjml(
    section.repeat(250),
    `<mj-style inline="inline">${many(3800, (number) => `.a${number}{color:red}`)}</mj-style>`,
  ),
  'many rules for few elements': mjml(
    section,
    `<mj-style inline="inline">${many(4000, (number) => `div .a${number}{color:red}`)}</mj-style>`,
  ),
  'rules for descendants': mjml(
    section.repeat(60),
    `<mj-style inline="inline">${'div div div table tr td div{color:red}'.repeat(90)}</mj-style>`,
  ),
  'many sections': mjml(section.repeat(1400)),
  'many texts': mjml(`<mj-section><mj-column>${'<mj-text>x</mj-text>'.repeat(4900)}</mj-column></mj-section>`),
  'nested sections': mjml('<mj-wrapper><mj-section><mj-column>'.repeat(2000)),
  'many classes': mjml(
    `<mj-section><mj-column>${`<mj-text mj-class="${'a '.repeat(400)}">x</mj-text>`.repeat(100)}</mj-column></mj-section>`,
  ),
}

/** CSV files, to be imported. */
export const EVIL_FILES: Readonly<Record<string, string>> = {
  'a header of commas': ','.repeat(262_000),
  'a header of quotes': '"'.repeat(262_000),
  'a header with many names': many(40_000, (number) => `c${number},`),
  'rows of quotes': `external_id,a\n${`x,${'""'.repeat(100)}"\n`.repeat(1000)}`,
  'rows of empty cells': `external_id${many(499, (number) => `,c${number}`)}\n${`${','.repeat(499)}\n`.repeat(500)}`,
  'long cells of spaces': `external_id,phone\n${`a,${' '.repeat(130_000)}x\n`.repeat(4)}`,
  'long numbers': `external_id,data.n:number\n${`a,${'9'.repeat(130_000)}e\n`.repeat(4)}`,
  'empty lines': `external_id\n${'\n'.repeat(260_000)}`,
}
