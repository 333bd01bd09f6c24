import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core'

const ten = (list: string) => list.split(' ').map((hex) => `#${hex}`) as unknown as MantineColorsTuple

const tinted: Record<string, string> = {
  bronze: 'accent',
  verdigris: 'good',
  sky: 'info',
  dusk: 'wait',
  honey: 'warn',
  ember: 'bad',
  gray: 'still',
}

/** Our measured tints for chips and alerts. Text on a fill follows the scheme: autoContrast looks at the light shade only. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const name = tinted[input.color ?? input.theme.primaryColor]
  const found = defaultVariantColorsResolver(input)
  if (name && input.variant === 'filled') return { ...found, color: 'var(--on-accent)' }
  if (name && input.variant === 'outline') return { ...found, color: `var(--${name})`, border: '1px solid var(--edge)' }
  if (name && input.variant === 'subtle') return { ...found, color: `var(--${name})`, hover: 'var(--hover)' }
  if (!name || input.variant !== 'light') return found
  return { ...found, background: `var(--${name}-tint)`, hover: `var(--${name}-tint)`, color: `var(--${name})` }
}

export const theme = createTheme({
  colors: {
    bronze: ten('fdf3e0 f9e4bf f3cd90 efb564 dd9a3c c97f1f b4690e 95560a 7a4507 5a3306'),
    verdigris: ten('e4f3ee c9e8dd a4dac8 7fcdb4 45a88b 2a8f74 1a785f 0f6450 0b4f40 083c31'),
    sky: ten('e7f1f9 cfe3f4 afd2ee 8fc0e8 4e97d0 4189c4 2a70a8 17527f 113f62 0c2e48'),
    dusk: ten('efedfa dfdaf3 ccc4ef b9aeea 8b7ed3 8073cc 5b4cab 4a3d90 3a3072 2b2455'),
    honey: ten('fbf4cd f6eaa0 eeda6c e3c743 caa81f 9c8010 84700b 6c5a08 544606 3e3404'),
    ember: ten('fceeea fad6cd f8bbad f5a08d e46d55 cf4a31 b93a22 9c2d18 7d2413 5e1b0f'),
    gray: ten('faf9f7 f4f1ec e8e4de d6d0c7 b9b3a9 8c857a 746d63 625d55 3d3933 1d1b18'),
    dark: ten('ecebe7 aea89e 948d84 7d766c 4a4640 322f2b 282523 1e1c1a 151413 0e0d0c'),
  },
  primaryColor: 'bronze',
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  luminanceThreshold: 0.179,
  black: '#1d1b18',
  variantColorResolver,
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  headings: { fontFamily: 'var(--display)', fontWeight: '640' },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.5rem' },
  lineHeights: { xs: '1.34', sm: '1.54', md: '1.57', lg: '1.5', xl: '1.25' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.25rem', xl: '2rem' },
  radius: { xs: '4px', sm: '5px', md: '7px', lg: '10px', xl: '14px' },
  defaultRadius: 'md',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Badge: {
      defaultProps: { variant: 'light', radius: 'sm' },
      styles: { root: { textTransform: 'none', fontWeight: 570, letterSpacing: 0 } },
    },
    Checkbox: { defaultProps: { iconColor: 'var(--on-accent)' } },
    // The header of a dialog is no banner of the page.
    DrawerHeader: { defaultProps: { role: 'none' } },
    InputWrapper: { defaultProps: { withAsterisk: false } },
    ModalHeader: { defaultProps: { role: 'none' } },
    Radio: { defaultProps: { iconColor: 'var(--on-accent)' } },
  },
})

const shared = {
  '--mantine-color-body': 'var(--ground)',
  '--mantine-color-bright': 'var(--ink)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-placeholder': 'var(--muted)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-default': 'var(--card)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-border': 'var(--edge)',
}

export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared })
