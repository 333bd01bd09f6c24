/** The style of the hosted pages, in light and dark, with the accent colour of the project. */
import { createHash } from 'node:crypto'
import { textOn } from '../theme/colours.ts'

const ACCENT = '#1f4fd8'

// Grey text has a contrast of 7 to its background in both schemes; borders of controls have 3.
const RULES = `
:root{color-scheme:light dark;--script:"Noto Sans";--ground:#f3f4f6;--card:#ffffff;--text:#17181b;--quiet:#4b4f58;--edge:#767b86;--line:#dcdfe5;--good:#e7f4ea}
@media (prefers-color-scheme:dark){:root{--ground:#131417;--card:#1d1f24;--text:#f2f3f5;--quiet:#b9bdc7;--edge:#8a8f9b;--line:#363a42;--good:#17331f}}
:lang(ar),:lang(fa){--script:"Noto Sans Arabic"}
:lang(he){--script:"Noto Sans Hebrew"}
:lang(ja){--script:"Noto Sans JP"}
:lang(zh){--script:"Noto Sans SC"}
:lang(zh-Hant){--script:"Noto Sans TC"}
*{box-sizing:border-box}
html{font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",var(--script),sans-serif;background:var(--ground);color:var(--text)}
body{margin:0 auto;padding:2.5rem 1rem;max-width:38rem;overflow-wrap:break-word}
.brand{margin:0 0 1.25rem;font-weight:600}
.brand img{display:block;height:2.5rem;width:auto;max-width:100%;object-fit:contain;object-position:left}
[dir=rtl] .brand img{object-position:right}
main{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:2rem}
h1{margin:0 0 .75rem;font-size:1.625rem;line-height:1.25;text-wrap:balance}
h2{margin:0 0 .5rem;font-size:1.125rem;line-height:1.3}
p{margin:0 0 1rem}
section{margin-top:2rem;padding-top:1.5rem;border-top:1px solid var(--line)}
fieldset{margin:1.5rem 0 0;padding:0;border:0}
legend{padding:0;font-weight:600;color:var(--quiet)}
label{display:flex;gap:.75rem;align-items:flex-start;padding:.75rem 0;border-bottom:1px solid var(--line);cursor:pointer}
label:last-child{border-bottom:0}
input{flex:none;width:1.375rem;height:1.375rem;margin:.0625rem 0 0;accent-color:var(--accent)}
label span{display:block}
.quiet{color:var(--quiet)}
label .quiet{font-size:.9375rem}
ul{margin:0;padding-inline-start:1.25rem}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.25rem;border-radius:.5rem;cursor:pointer;border:1px solid var(--edge);background:var(--accent);color:var(--on-accent)}
button.plain{background:transparent;color:var(--text)}
form>button{margin-top:.5rem}
fieldset+button{margin-top:1rem}
a{display:inline-block;padding:.5rem 0;color:inherit;text-underline-offset:.2em}
p:last-child{margin-bottom:0}
a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid var(--text);outline-offset:3px}
[role=status]{outline:0;margin-bottom:1.5rem;padding:.75rem 1rem;border-radius:.5rem;border:1px solid var(--edge);background:var(--good)}
footer{margin-top:1.25rem;color:var(--quiet);font-size:.875rem;white-space:pre-line}
@media (max-width:30rem){body{padding:1.25rem .75rem}main{padding:1.25rem}h1{font-size:1.375rem}button{width:100%}}
@media (forced-colors:active){button{border-color:ButtonText}}
`

export type Style = { css: string /** For the Content-Security-Policy. */; hash: string }

/** The style with the accent colour of a project, `#rrggbb`. */
export function styleWith(accent: string | null): Style {
  const colour = accent ?? ACCENT
  const css = `:root{--accent:${colour};--on-accent:${textOn(colour)}}${RULES}`
  return { css, hash: `sha256-${createHash('sha256').update(css).digest('base64')}` }
}
