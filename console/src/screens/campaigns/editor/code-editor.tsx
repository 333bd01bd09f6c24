import type { Completion } from '@codemirror/autocomplete'
import { html } from '@codemirror/lang-html'
import { liquid } from '@codemirror/lang-liquid'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { nonce } from '../../../nonce.ts'
import { phrasesIn } from './phrases.ts'
import type { Preview } from './use-preview.ts'
import type { Word } from './words.ts'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  words: Word[]
  findings: Preview['findings']
  isPlain: boolean
  isReadOnly: boolean
}

/** Code with colours and the completion of variables. Escape, then Tab leaves it. */
export function CodeEditor({ label, value, onChange, words, findings, isPlain, isReadOnly }: Props) {
  const { language } = useTranslation().i18n
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  // The editor is made once, and calls what was given last.
  const given = useRef({ onChange, words })
  given.current = { onChange, words }
  const first = useRef(value)
  useEffect(() => {
    if (!place.current) return
    const opened = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          EditorView.cspNonce.of(nonce),
          basicSetup,
          lintGutter(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorState.readOnly.of(isReadOnly),
          EditorState.phrases.of(phrasesIn(language)),
          liquid({ ...(isPlain ? {} : { base: html() }), properties: (path) => childrenOf(given.current.words, path), variables: ROOTS }),
          LOOK,
          syntaxHighlighting(COLOURS),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) given.current.onChange(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = opened
    return () => {
      opened.destroy()
      view.current = null
    }
  }, [label, isPlain, isReadOnly, language])
  useEffect(() => {
    const { state } = view.current ?? {}
    if (state && state.doc.toString() !== value) view.current?.dispatch({ changes: { from: 0, to: state.doc.length, insert: value } })
    first.current = value
  }, [value])
  useEffect(() => {
    const { state } = view.current ?? {}
    if (!state) return
    const diagnostics = findings
      .filter(({ line }) => line !== undefined && line <= state.doc.lines)
      .map(({ line = 1, severity, message }) => ({ ...state.doc.line(line), severity, message }))
    view.current?.dispatch(setDiagnostics(state, diagnostics))
  }, [findings])
  return <div ref={place} className="codeeditor" />
}

const ROOTS: Completion[] = ['user', 'event', 'unsubscribe_url', 'preferences_url', 'view_url'].map((label) => ({
  label,
  type: 'variable',
}))

/** What may follow a path. */
function childrenOf(words: Word[], path: readonly string[]): Completion[] {
  const below = words.filter((word) => word.path.length > path.length && path.every((name, index) => word.path[index] === name))
  const names = new Map(below.map((word) => [word.path[path.length] ?? '', word]))
  return [...names].map(([label, word]) =>
    word.path.length === path.length + 1
      ? { label, type: 'property', detail: word.about, ...(word.sample && { info: word.sample }) }
      : { label, type: 'namespace' },
  )
}

const LOOK = EditorView.theme({
  '&': { backgroundColor: 'var(--card)', color: 'var(--ink)', fontSize: '0.8125rem', minHeight: '20rem', maxHeight: '36rem' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.25rem', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--hatch)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raise)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-tint)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal' },
})

const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.angleBracket], color: 'var(--info)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--wait)' },
  { tag: [tags.attributeValue, tags.string], color: 'var(--good)' },
  { tag: [tags.variableName, tags.operator, tags.brace, tags.special(tags.brace)], color: 'var(--accent)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--muted)' },
  { tag: [tags.number, tags.bool, tags.literal], color: 'var(--warn)' },
])
