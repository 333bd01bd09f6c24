import { type Static, Type } from 'typebox'
import { Exact, Line, Nullable } from '../../../lib/shapes.ts'

const members = {
  brand_name: Nullable(Line(100, { description: 'The name of the sender. By default the name of the project.' })),
  logo_url: Nullable(
    Type.String({
      trim: true,
      minLength: 1,
      maxLength: 2048,
      format: 'https-url',
      description: 'The URL of an image, shown 40 pixels high at the top of the page.',
    }),
  ),
  accent_color: Nullable(
    Type.String({
      pattern: '^#[0-9a-fA-F]{6}$',
      problem: 'must be a colour such as `#1f4fd8`',
      description: 'The colour of buttons. Their text is black or white, whichever has the higher contrast.',
    }),
  ),
  footer_text: Nullable(
    Type.String({ maxLength: 1000, description: 'Text below the page, such as your company name and address. Line breaks are kept.' }),
  ),
}

/** The theme of the unsubscribe, preference and confirmation pages. */
export const PageThemeInput = Exact(Type.Partial(Type.Object(members)).properties)
export type PageThemeInput = Static<typeof PageThemeInput>

export const PageThemePreviewInput = Exact({
  theme: Type.Optional({ ...PageThemeInput, description: 'The theme to preview. By default that of the project.' }),
  locale: Type.Optional(
    Line(255, { format: 'locale', minLength: 1, description: 'The locale of the user. By default that of the project.' }),
  ),
})

export const PageThemePreview = Exact(
  { html: Type.String({ description: 'The page as an HTML document.' }) },
  { title: 'PageThemePreview' },
)

export const PageTheme = Exact(members)
export type PageTheme = Static<typeof PageTheme>

export const PageThemeRow = Type.Object({
  brand_name: Nullable(Type.String()),
  logo_url: Nullable(Type.String()),
  accent_color: Nullable(Type.String()),
  footer_text: Nullable(Type.String()),
})
