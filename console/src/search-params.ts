import { navigate, useAddress } from './router.tsx'

/** How a value stands in an address. */
interface Param<Value> {
  /** The value of what stands there, which anybody may have typed; `null` for nothing. */
  read(text: string | null): Value
  /** What to put there; an empty text for nothing. */
  write(value: Value): string
}

/** Any text; nothing is the empty one. */
export const textParam: Param<string> = { read: (text) => text ?? '', write: (text) => text }

/** A day, such as 2026-01-31; nothing is the empty text. */
export const dayParam: Param<string> = {
  read: (text) =>
    text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '',
  write: (day) => day,
}

/** A whole number from 1 on. */
export const numberParam: Param<number> = {
  read: (text) => (text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1),
  write: (number) => (number === 1 ? '' : String(number)),
}

/** One of some words; the first of them where nothing is said, or nothing that is one. */
export function choiceParam<Choice extends string>(first: Choice, ...others: Choice[]): Param<Choice> {
  const choices = [first, ...others]
  return {
    read: (text) => choices.find((choice) => choice === text) ?? first,
    write: (choice) => (choice === first ? '' : choice),
  }
}

/** How each value of a page's filters stands in the address. */
type Params<Values> = { [Name in keyof Values]: Param<Values[Name]> }

interface ChangeOptions {
  /** Whether Back leads to what was there before, rather than past it. */
  push?: boolean
}

/**
 * What the address says of a page's filters, and how to change it. A change leads back to the first page of the list that is filtered.
 */
export function useSearchParams<Values extends Record<string, unknown>>(
  params: Params<Values>,
): [Values, (changes: Partial<Values>, options?: ChangeOptions) => void] {
  const { path, query } = useAddress()
  const values: Partial<Values> = {}
  for (const name in params) values[name] = params[name].read(query.get(name))
  function change(changes: Partial<Values>, { push = false }: ChangeOptions = {}): void {
    const next = new URLSearchParams(location.search)
    for (const name of ['after', 'page']) next.delete(name)
    for (const name in changes) {
      const value = changes[name]
      const text = value === undefined ? '' : params[name].write(value)
      if (text === '') next.delete(name)
      else next.set(name, text)
    }
    navigate(next.size > 0 ? `${path}?${next}` : path, { replace: !push })
  }
  // Each name of `params` has been read.
  return [values as Values, change]
}
