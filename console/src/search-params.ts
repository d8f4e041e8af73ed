import { navigate, useAddress } from './router.tsx'

/** How a value is written in the URL. */
interface Param<Value> {
  /** The value of a parameter, which anybody may have typed; `null` if it is absent. */
  read(text: string | null): Value
  /** The parameter of a value; an empty text omits it. */
  write(value: Value): string
}

/** Any text; empty if absent. */
export const textParam: Param<string> = { read: (text) => text ?? '', write: (text) => text }

/** A day, such as 2026-01-31; an empty text if absent. */
export const dayParam: Param<string> = {
  read: (text) =>
    text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '',
  write: (day) => day,
}

/** A month, such as 2026-01; an empty text if absent. */
export const monthParam: Param<string> = {
  read: (text) => (text !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? text : ''),
  write: (month) => month,
}

/** A positive integer. */
export const numberParam: Param<number> = {
  read: (text) => (text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1),
  write: (number) => (number === 1 ? '' : String(number)),
}

/** Whether something is shown, such as a dialog; `false` if absent. */
export const flagParam: Param<boolean> = {
  read: (text) => text === 'true',
  write: (value) => (value ? 'true' : ''),
}

/** One of several words; the first is the default. */
export function choiceParam<Choice extends string>(first: Choice, ...others: Choice[]): Param<Choice> {
  const choices = [first, ...others]
  return {
    read: (text) => choices.find((choice) => choice === text) ?? first,
    write: (choice) => (choice === first ? '' : choice),
  }
}

/** How each filter of a page is written in the URL. */
type Params<Values> = { [Name in keyof Values]: Param<Values[Name]> }

interface ChangeOptions {
  /** Whether to add a history entry, so that Back undoes the change. */
  push?: boolean
}

/**
 * The filters of a page in the URL, and how to change them. A change resets the list to its first page.
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
    navigate((next.size > 0 ? `${path}?${next}` : path) + location.hash, { replace: !push })
  }
  // Every name in `params` has been read.
  return [values as Values, change]
}
