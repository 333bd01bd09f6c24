/** The mark of the product. */
export function Bell() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M8 1.2a1 1 0 0 1 1 1v.5c2.2.5 3.6 2.4 3.6 4.8v2.6l1.3 1.9c.3.5 0 1.1-.6 1.1H2.7c-.6 0-.9-.6-.6-1.1l1.3-1.9V7.5C3.4 5.1 4.8 3.2 7 2.7v-.5a1 1 0 0 1 1-1ZM6.2 14h3.6a1.8 1.8 0 0 1-3.6 0Z" />
    </svg>
  )
}
