import type { PublicReply } from '../../infra/http/public-page.ts'

const HTML = `<!doctype html>
<html lang="en-AU">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Page not found</title>
<style>
:root { color-scheme: light dark }
body { font: 1.125rem/1.5 system-ui, sans-serif; margin: 0; display: grid; min-height: 100vh; place-items: center }
main { max-width: 32rem; padding: 1.5rem }
</style>
</head>
<body>
<main>
<h1>Page not found</h1>
<p>This link does not work. It may be incomplete or changed. Open the message again and follow the link from there.</p>
</main>
</body>
</html>
`

/** The reply to an invalid link. It never redirects. */
export const notFound = (): PublicReply => ({
  status: 404,
  type: 'text/html; charset=utf-8',
  body: HTML,
  headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'", 'x-robots-tag': 'noindex' },
})
