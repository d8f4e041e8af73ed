import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const changed = 'lethe:navigated'

/** Data that the browser stores with a history entry. */
interface HistoryState {
  /** The scroll position when the page was left. */
  scroll?: number
  /** The cursors of the previous pages of a list. */
  trail?: string[]
}

/** The data of the current history entry. */
export function historyState(): HistoryState {
  return { ...history.state }
}

interface NavigateOptions {
  replace?: boolean
  state?: HistoryState
  /** Whether unsaved changes do not matter, as after signing out. */
  force?: boolean
}

/** Asks whether to leave a page, and calls `leave` if so. */
type AskToLeave = (leave: () => void) => void

/** The page that asks before it is left. */
let guarded: { ask: AskToLeave; address: string; state: HistoryState } | null = null

/** Calls `ask` before another page of the console opens, also by Back. Returns how to stop that. */
export function guardPage(ask: AskToLeave): () => void {
  guarded = { ask, address: location.href, state: historyState() }
  return () => {
    guarded = null
  }
}

/** Does something that ends with another page, after the current one was asked. */
export function leavePage(work: () => void): void {
  if (guarded) guarded.ask(work)
  else work()
}

function onBack(event: Event): void {
  if (!guarded) return
  event.stopImmediatePropagation()
  const [target, state] = [location.href, historyState()]
  // The browser has already changed the address.
  history.pushState(guarded.state, '', guarded.address)
  guarded.ask(() => navigate(target, { replace: true, state, force: true }))
}

/** Opens another page of the console without a page load. */
export function navigate(to: string, options: NavigateOptions = {}): void {
  const { replace = false, state = {}, force = false } = options
  if (guarded && !force) {
    leavePage(() => navigate(to, { ...options, force: true }))
    return
  }
  if (replace) history.replaceState(state, '', to)
  else {
    history.replaceState({ ...historyState(), scroll: scrollY }, '')
    history.pushState(state, '', to)
  }
  dispatchEvent(new Event(changed))
}

interface Address {
  path: string
  query: URLSearchParams
  /** What follows `#`, which browsers do not send. */
  fragment: string
}

/** The current URL; renders again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(ownAddress)
  useEffect(() => {
    const update = () => setAddress(ownAddress())
    // It may have changed since the first render.
    update()
    // Before the others, so that a guarded page stays. Adding it again has no effect.
    addEventListener('popstate', onBack)
    addEventListener('popstate', update)
    addEventListener(changed, update)
    return () => {
      removeEventListener('popstate', update)
      removeEventListener(changed, update)
    }
  }, [])
  const [, path = '', search, fragment = ''] = /^([^?#]*)([^#]*)#?(.*)$/.exec(address) ?? []
  return { path: path.replace(/\/+$/, ''), query: new URLSearchParams(search), fragment }
}

/** The path of the current page with its query and fragment. */
function ownAddress(): string {
  return location.pathname + location.search + location.hash
}

/** The names of a pattern's parameters. */
type ParameterNames<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterNames<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Name
    : never

/** A page and the pattern of its path. */
interface Route {
  /** What to show at a path; `null` if the path does not match. */
  at(path: string): ComponentChildren
}

export function route<Pattern extends string>(
  pattern: Pattern,
  show: (params: Record<ParameterNames<Pattern>, string>) => ComponentChildren,
): Route {
  return {
    at(path) {
      const params = match(pattern, path)
      return params && show(params)
    },
  }
}

/** What the first route that matches a path shows; `null` if none does. */
export function firstMatch(routes: readonly Route[], path: string): ComponentChildren {
  for (const each of routes) {
    const page = each.at(path)
    if (page !== null) return page
  }
  return null
}

/** The decoded parameters of a path; `null` if the path does not match. */
function match<Pattern extends string>(
  pattern: Pattern,
  path: string,
): Record<ParameterNames<Pattern>, string> | null {
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

/** A link within the console. The browser handles clicks that open a new tab. */
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

/** Replaces a former address by the current one. */
export function Redirect({ to }: { to: string }) {
  useEffect(() => navigate(to, { replace: true }), [to])
  return null
}
