/** Templates that were parsed, by their text. What they take in memory is bounded. */
import type { Liquid, Template } from 'liquidjs'
import { LRUCache } from 'lru-cache'
import type { Block } from './blocks.ts'
import { compileTemplates } from './compile.ts'

const BYTES_MAX = 64_000_000

// Tokens, syntax tree and closures, which are far larger than the text.
const BYTES_PER_TEMPLATE = 1000
const BYTES_PER_TAG = 1000
const BYTES_PER_TAG_CHARACTER = 90

/** A parsed template. It is compiled when it is first rendered, so that checking a template costs no more than parsing it. */
export class CachedTemplate {
  readonly templates: Template[]
  readonly #liquid: Liquid
  #block: Block | null | undefined
  constructor(liquid: Liquid, templates: Template[]) {
    this.#liquid = liquid
    this.templates = templates
  }

  /** The compiled template; null if it contains what cannot be compiled. */
  get block(): Block | null {
    if (this.#block === undefined) this.#block = compileTemplates(this.#liquid, this.templates)
    return this.#block
  }
}

export const createCache = (): LRUCache<string, CachedTemplate> =>
  new LRUCache({ maxSize: BYTES_MAX, sizeCalculation: (_, text) => bytesOf(text) })

/** About how much memory a template takes once it is compiled. */
export function bytesOf(text: string): number {
  let bytes = BYTES_PER_TEMPLATE + text.length * 2
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) {
    const closing = text[at + 1] === '{' ? '}}' : text[at + 1] === '%' ? '%}' : null
    if (closing === null) continue
    const end = text.indexOf(closing, at)
    bytes += BYTES_PER_TAG + ((end === -1 ? text.length : end) - at) * BYTES_PER_TAG_CHARACTER
    if (end === -1) break
    at = end
  }
  return bytes
}
