/** Arbitrary HTML, mostly malformed, with or without Liquid. */
import fc from 'fast-check'

const TAGS = [
  '<a ',
  '<A\n',
  '<area ',
  '<v:rect ',
  '<b ',
  '</a>',
  '</',
  '<',
  '>',
  '/>',
  ' href=',
  'HREF = ',
  ' href',
  ' title=',
  '"',
  "'",
  '=',
  ' ',
  '\n',
]
const TEXT_ELEMENTS = ['<style>', '</style>', '</styl', '<title>', '</title >', '<textarea>', '</textarea>']
const COMMENTS = ['<!--', '-->', '--!>', '<!-->', '<!', '<?']
const ADDRESSES = ['https://a.test/x', 'http://b.test?a=1&amp;b=2', '//c.test', 'mailto:x@y.test', '#']
const REFERENCES = ['&', '&amp', '&copy', '&copy;', '&#38;', '&#x26', '&apos;', '&notit;', '&NotEqualTilde;', '&#0;', '&#x80;']

const piece = fc.oneof(
  fc.constantFrom(...TAGS, ...TEXT_ELEMENTS, ...COMMENTS, ...ADDRESSES, ...REFERENCES),
  fc.constantFrom(
    '<a href="https://a.test/x">',
    "<a class=b href='//b.test'>",
    '<a href=https://c.test/?a&amp;b>',
    '<a href="mailto:x@y.test">',
    '<p>',
    '</p>',
    '<br>',
  ),
  fc.string({ maxLength: 4 }),
)
const conditions = fc.constantFrom('<!--[if mso]>', '<![endif]-->')

/** Each tag is complete. Conditions and loops may lack their end. */
const liquid = fc.constantFrom(
  '{{ x }}',
  '{{ "}}" }}',
  "{{- x | append: '<a href=' -}}",
  '{% if a > b %}',
  '{% else %}',
  '{% endif %}',
  '{% assign x =\n1 %}',
  '{% raw %}{{ <a href="https://raw.test"> {% endraw %}',
  '{% comment %}<a href="{{ x }}{% endcomment %}',
)
const brokenLiquid = fc.constantFrom('{{', '}}', '{%', '%}', '{% raw %}', '{% endraw %}', '{% comment %}', '{% endcomment %}')

const soup = (...of: fc.Arbitrary<string>[]) => fc.array(fc.oneof(...of), { maxLength: 40 }).map((pieces) => pieces.join(''))

export const htmlSoup = soup(piece)
/** Mostly valid Liquid, except where a brace comes before a tag. */
export const liquidSoup = soup(piece, piece, liquid, conditions)
/** Mostly invalid Liquid. */
export const brokenLiquidSoup = soup(piece, liquid, brokenLiquid, conditions)
