import type { ComponentType } from 'react'
import type { Campaign } from '../../search.ts'
import type { Preview } from '../use-preview.ts'

/** The members of a template, of whatever channel. Every text may contain Liquid. */
export type Template = Record<string, unknown>

export type Editing = { template: Template; onChange: (template: Template) => void }

export type FieldsProps = Editing & {
  campaign: Campaign
  findings: Preview['findings']
  segments: Preview['segments']
  isReadOnly: boolean
}

export type DrawnProps = {
  content: Record<string, unknown>
  /** A member of the content that is a text; empty for others. */
  text: (name: string) => string
  preview: Preview
  /** The images of an email by their ids. */
  images: ReadonlyMap<string, string>
  width: number
  isDark: boolean
  hasImages: boolean
  isText: boolean
  /** What the frame of an email is called, where there are several. */
  title?: string
}

/** What the editor has for a channel. */
export type ChannelEditor = {
  /** What a template begins with. It is saved with the first change. */
  start: Template
  Fields: ComponentType<FieldsProps>
  /** What few templates have: the members, and their fields. */
  more: { names: string[]; Fields: ComponentType<Editing> } | null
  /** A rendered message as its recipient sees it. */
  Drawn: ComponentType<DrawnProps>
}
