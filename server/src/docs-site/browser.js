// What the reference does in a browser: copies samples, searches operations, and sends requests with a key that is only in memory.
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** The key and the user token, for as long as the page is open. */
const credentials = { key: '', token: '' }

for (const figure of document.querySelectorAll('figure.sample')) {
  const copy = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  copy.addEventListener('click', async () => {
    const shown = [...figure.querySelectorAll('pre')].find((pre) => pre.offsetParent !== null)
    try {
      await navigator.clipboard.writeText(shown?.textContent ?? '')
      copy.textContent = 'Copied'
    } catch {
      copy.textContent = 'Select and copy'
    }
    setTimeout(() => Object.assign(copy, { textContent: 'Copy' }), 2000)
  })
  figure.querySelector('figcaption')?.append(copy)
}

const search = document.getElementById('search')
if (search) {
  search.hidden = false
  const entries = [...document.querySelectorAll('.contents li')].map((item) => {
    const target = document.getElementById(item.querySelector('a')?.hash.slice(1) ?? '')
    const path = target?.dataset.path ?? ''
    const about = [...(target?.querySelectorAll('h3, .endpoint, .about > p') ?? [])].map(({ textContent }) => textContent).join(' ')
    return { item, text: `${item.textContent} ${path} ${about}`.toLowerCase() }
  })
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/)
    for (const { item, text } of entries) item.hidden = !words.every((word) => text.includes(word))
    for (const list of document.querySelectorAll('.contents ul')) {
      const isEmpty = [...list.children].every(({ hidden }) => hidden)
      list.hidden = isEmpty
      if (list.previousElementSibling?.localName === 'p') list.previousElementSibling.hidden = isEmpty
    }
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.closest('input, textarea')) return
    event.preventDefault()
    search.focus()
  })
}

const field = (label, input) => element('label', {}, element('span', { textContent: label }), input)

function credentialField(label, name) {
  const input = element('input', { type: 'password', value: credentials[name], autocomplete: 'off', spellcheck: false })
  input.addEventListener('input', () => Object.assign(credentials, { [name]: input.value.trim() }))
  return field(label, input)
}

/** Sends what a form contains, to the server of this page. Returns the text to show. */
async function send({ method, type }, path, body) {
  const headers = { Authorization: `Bearer ${credentials.key}` }
  if (credentials.token) headers['X-Service-User-Token'] = credentials.token
  if (body !== undefined) headers['Content-Type'] = type
  const isForm = type === 'application/x-www-form-urlencoded'
  const sent = body !== undefined && isForm ? new URLSearchParams(JSON.parse(body)) : body
  const reply = await fetch(path, { method: method.toUpperCase(), headers, body: sent, credentials: 'omit', redirect: 'error' })
  const text = await reply.text()
  const isJson = reply.headers.get('content-type')?.startsWith('application/json')
  return `${reply.status} ${reply.statusText}\n\n${isJson ? JSON.stringify(JSON.parse(text), null, 2) : text}`
}

/** The form of an operation. It replaces the button that opened it. */
function openForm(article, button) {
  const { method, type, body } = article.dataset
  const path = element('input', { value: article.dataset.path, spellcheck: false })
  const example = body && (type === 'text/csv' ? JSON.parse(body) : JSON.stringify(JSON.parse(body), null, 2))
  const text = body && element('textarea', { value: example, rows: Math.min(16, example.split('\n').length + 1), spellcheck: false })
  const output = element('pre', { tabIndex: 0, hidden: true })
  output.setAttribute('aria-live', 'polite')
  const submit = element('button', { type: 'submit', textContent: `Send ${method.toUpperCase()}` })
  const needsToken = article.querySelector('.access')?.textContent.includes('user token')
  const form = element(
    'form',
    { className: 'try' },
    credentialField('Key, kept in memory only', 'key'),
    ...(needsToken ? [credentialField('User token', 'token')] : []),
    field('Path', path),
    ...(text ? [field('Body', text)] : []),
    submit,
    output,
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    submit.disabled = true
    output.hidden = false
    output.textContent = '…'
    // The path is that of this server, whatever is typed.
    const url = new URL(path.value, location.origin)
    output.textContent =
      url.origin === location.origin
        ? await send({ method, type }, url, text ? text.value : undefined).catch(({ message }) => message)
        : 'The path must begin with a slash.'
    submit.disabled = false
  })
  button.replaceWith(form)
  form.querySelector('input')?.focus()
}

for (const article of document.querySelectorAll('article[data-method]')) {
  const button = element('button', { type: 'button', className: 'open-try', textContent: 'Try it' })
  button.addEventListener('click', () => openForm(article, button))
  article.querySelector('.request')?.after(button)
}
