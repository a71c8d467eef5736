import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const THEME_WORDS: Readonly<Record<Theme, string>> = {
  system: 'theme: auto',
  light: 'theme: light',
  dark: 'theme: dark',
}

const KEY = 'switchgear.theme'

export const theme = signal<Theme>('system')

/** Shows the theme that was chosen in this browser, and keeps what is chosen from now on. */
export function followTheme(): void {
  const kept = localStorage.getItem(KEY)
  theme.value = THEMES.find((known) => known === kept) ?? 'system'
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
    localStorage.setItem(KEY, theme.value)
  })
}
