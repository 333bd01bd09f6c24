import { type Static, Type } from 'typebox'
import { Exact, Line, Nullable } from '../../../lib/shapes.ts'

const members = {
  brand_name: Nullable(Line(100, { description: 'Who is speaking; the name of the project when null.' })),
  logo_url: Nullable(
    Type.String({
      trim: true,
      minLength: 1,
      maxLength: 2048,
      format: 'https-url',
      description: 'An image above the page; its height is 40 pixels.',
    }),
  ),
  accent_color: Nullable(
    Type.String({
      pattern: '^#[0-9a-fA-F]{6}$',
      problem: 'must be a colour such as `#1f4fd8`',
      description: 'The colour of buttons. What is written on them is black or white, whichever can be read better.',
    }),
  ),
  footer_text: Nullable(
    Type.String({ maxLength: 1000, description: 'Below the page, such as who you are and where; line breaks are kept.' }),
  ),
}

/** How the pages look that people come to from messages; all of it is replaced. */
export const PageThemeInput = Exact(Type.Partial(Type.Object(members)).properties)
export type PageThemeInput = Static<typeof PageThemeInput>

export const PageTheme = Exact(members)
export type PageTheme = Static<typeof PageTheme>

export const PageThemeRow = Type.Object({
  brand_name: Nullable(Type.String()),
  logo_url: Nullable(Type.String()),
  accent_color: Nullable(Type.String()),
  footer_text: Nullable(Type.String()),
})
