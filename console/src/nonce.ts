/** The nonce of this page. Styles that are made in the browser carry it, because the page allows no others. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// The library that stops the page from scrolling behind a dialog reads it there.
Object.assign(globalThis, { __webpack_nonce__: nonce })
