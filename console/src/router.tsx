import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const changed = 'lethe:navigated'

/** Goes to another page of the console without loading it anew. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  dispatchEvent(new Event(changed))
}

/** Where the browser is: renders anew when that changes. */
export function useAddress(): { path: string; query: URLSearchParams } {
  const [address, setAddress] = useState(location.pathname + location.search)
  useEffect(() => {
    const update = () => setAddress(location.pathname + location.search)
    addEventListener('popstate', update)
    addEventListener(changed, update)
    return () => {
      removeEventListener('popstate', update)
      removeEventListener(changed, update)
    }
  }, [])
  const [path = '', search = ''] = address.split('?')
  return { path: path.replace(/\/+$/, ''), query: new URLSearchParams(search) }
}

/** The values of a pattern's parameters in a path, decoded; `null` when the path is another. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const [wanted, found] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== found.length) return null
  const values: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = found[i] ?? ''
    if (!part.startsWith(':')) {
      if (part !== value) return null
    } else {
      try {
        values[part.slice(1)] = decodeURIComponent(value)
      } catch {
        return null
      }
    }
  }
  return values
}

interface LinkProps {
  to: string
  class?: string
  children: ComponentChildren
  isCurrent?: boolean
  label?: string
}

/** A link within the console. What opens a new tab is left to the browser. */
export function Link({ to, class: name, children, isCurrent = false, label }: LinkProps) {
  return (
    <a
      href={to}
      class={name}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        navigate(to)
      }}
    >
      {children}
    </a>
  )
}
