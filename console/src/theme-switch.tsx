import { useId, useState } from 'preact/hooks'
import { Icon, type IconName } from './components/icon.tsx'

type Theme = 'system' | 'light' | 'dark'

const themes: { theme: Theme; title: string; icon: IconName }[] = [
  { theme: 'system', title: 'System', icon: 'screen' },
  { theme: 'light', title: 'Light', icon: 'sun' },
  { theme: 'dark', title: 'Dark', icon: 'moon' },
]

const stored = 'lethe-theme'

function current(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

function use(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset.theme
    localStorage.removeItem(stored)
  } else {
    document.documentElement.dataset.theme = theme
    localStorage.setItem(stored, theme)
  }
}

/** Light, dark or the system's theme. Its label is shown where nothing else says what it is. */
export function ThemeSwitch({ hasLabel = false }) {
  const [chosen, choose] = useState(current)
  const name = useId()
  return (
    <fieldset class="choice">
      <legend class={hasLabel ? 'label' : 'visually-hidden'}>Theme</legend>
      <div class="segments">
        {themes.map(({ theme, title, icon }) => (
          <label key={theme}>
            <input
              type="radio"
              name={name}
              checked={chosen === theme}
              onChange={() => {
                use(theme)
                choose(theme)
              }}
            />
            <span>
              <Icon name={icon} /> {title}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
