/** The page of errors. Each code has an anchor, to which `doc_url` links (D-ERR-1). */

import { errorReply } from '../infra/http/error-reply.ts'
import { ERRORS, REASONS } from '../infra/http/openapi/errors.ts'
import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts'
import { type Html, html } from '../lib/html.ts'
import { codeBlock, jsonCode } from './code.ts'
import { page } from './layout.ts'
import { inline, markdown } from './markdown.ts'

const REQUEST_ID = 'req_01KAFW6V7Q3M8Z5N4P2R9S0T1X'
const CODES = Object.keys(ERROR_STATUS) as ErrorCode[]

/** The page `/docs/errors`. */
export function errorsPage(version: string, baseUrl: string): string {
  const main = html`
<section class="intro">
  <h1>Errors</h1>
  <p class="lead">Every error has one of ${CODES.length} codes and the same shape. Rely on the code, read the message, and quote the request id when you ask for help.</p>
</section>
<section class="group">
<h2 id="codes"><a href="#codes">All codes</a></h2>
<div class="scroll" tabindex="0" role="region" aria-label="All codes"><table>
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead>
<tbody>${CODES.map((code) => html`<tr><th scope="row"><a href="#${code}"><code>${code}</code></a></th><td>${ERROR_STATUS[code]}</td><td>${inline(firstSentence(ERRORS[code].meaning))}</td></tr>`)}</tbody>
</table></div>
${CODES.map((code) => codeSection(code, baseUrl))}
</section>
<section class="group">
<h2 id="reasons"><a href="#reasons">Reasons</a></h2>
<p>Some errors have an <code>error.reason</code>, which is more precise than the code.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Reasons"><table>
<thead><tr><th scope="col">Reason</th><th scope="col">Meaning</th></tr></thead>
<tbody>${Object.entries(REASONS).map(([reason, meaning]) => html`<tr><th scope="row"><code>${reason}</code></th><td>${inline(meaning)}</td></tr>`)}</tbody>
</table></div>
</section>`
  const contents = html`
<p><a href="#codes">All codes</a></p>
<ul>${CODES.map((code) => html`<li><a href="#${code}"><span>${code}</span><span class="status">${ERROR_STATUS[code]}</span></a></li>`)}</ul>
<p><a href="#reasons">Reasons</a></p>`
  return page({ title: 'Carillon API errors', version, current: '/docs/errors', contents, main })
}

function codeSection(code: ErrorCode, baseUrl: string): Html {
  const { meaning, action, retry, example } = ERRORS[code]
  return html`<article class="operation" id="${code}">
<div class="about">
  <h3><a href="#${code}"><code>${code}</code></a></h3>
  <p class="endpoint"><span class="status">${ERROR_STATUS[code]}</span></p>
  ${markdown(meaning)}
  <h4>What to do</h4>
  ${markdown(action)}
  <h4>Can the same request succeed later?</h4>
  ${markdown(retry)}
</div>
<div class="samples">${codeBlock('Reply', jsonCode(JSON.stringify(errorReply(example, REQUEST_ID, baseUrl), null, 2)))}</div>
</article>`
}

const firstSentence = (text: string) => `${text.slice(0, text.search(/[.:](?: |$)/))}.`
