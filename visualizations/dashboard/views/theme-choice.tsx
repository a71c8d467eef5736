import { THEMES, THEME_WORDS, theme } from '../theme.ts'
import type { Theme } from '../theme.ts'

/** Dark or light, or as the system has it. */
export function ThemeChoice() {
  return (
    <label class="theme">
      <span class="unseen">Theme</span>
      <select value={theme} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {THEME_WORDS[each]}
          </option>
        ))}
      </select>
    </label>
  )
}
