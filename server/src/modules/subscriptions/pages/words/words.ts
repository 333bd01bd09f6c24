/** The texts of the pages in one language. `{brand}` is the sender, `{type}` the name of a subscription type. */
export type Words = {
  unsubscribe: {
    title: string
    heading: string
    explain: string
    button: string
    done_heading: string
    done: string
    transactional_heading: string
    transactional: string
  }
  preferences: {
    link: string
    title: string
    explain: string
    /** Shown for a type that waits for a confirmation. */
    awaiting: string
    save: string
    none: string
    always_heading: string
    always: string
    all_heading: string
    all: string
    all_button: string
    /** The separate choice that stops transactional messages too. */
    stop_heading: string
    stop: string
    stop_button: string
    saved: string
    saved_confirm: string
    saved_all: string
    saved_stop: string
  }
  confirm: { title: string; heading: string; explain: string; button: string; done_heading: string; done: string }
  expired: { heading: string; text: string }
  removed: { heading: string; text: string }
  invalid: { heading: string; text: string }
  /** Shown on the pages of a test send. */
  test: string
}

/** Declares a language. */
export const words = (definition: Words): Words => definition
