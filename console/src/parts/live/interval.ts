/** How often what changes by itself is read again while the page is seen. TanStack Query stops while it is hidden. */
export const LIVE_MS = 2000
