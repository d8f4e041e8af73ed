import type { Instant } from '../../domain/instant.ts'
import type { Language } from '../../domain/language.ts'
import type { Text } from './index-texts.ts'

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' }

/** Writes numbers, instants and codes in a language. All times are in UTC. */
export class Formats {
  readonly language: Language
  readonly #numbers: Intl.NumberFormat
  readonly #days: Intl.DateTimeFormat
  readonly #moments: Intl.DateTimeFormat
  readonly #months: Intl.DateTimeFormat
  readonly #regions: Intl.DisplayNames
  readonly #languages: Intl.DisplayNames

  constructor(language: Language) {
    const locale = locales[language]
    const timeZone = 'UTC'
    this.language = language
    this.#numbers = new Intl.NumberFormat(locale)
    this.#days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone })
    this.#moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone })
    this.#months = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone })
    this.#regions = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' })
    this.#languages = new Intl.DisplayNames(locale, { type: 'language', fallback: 'none' })
  }

  say<Value>(text: Text<Value>): Value {
    return text[this.language]
  }

  number(value: number): string {
    return this.#numbers.format(value)
  }

  /** A number with its noun. */
  amount(value: number, noun: Text<readonly [one: string, many: string]>): string {
    const [one, many] = this.say(noun)
    return `${this.number(value)} ${value === 1 ? one : many}`
  }

  day(instant: Instant): string {
    return this.#days.format(instant)
  }

  moment(instant: Instant): string {
    return this.#moments.format(instant)
  }

  /** By its number since the year 0. */
  month(month: number): string {
    return this.#months.format(new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1))
  }

  /** The country of a code such as `DE`; `null` for anything else. */
  country(code: string): string | null {
    return /^[A-Z]{2}$/.test(code) ? (this.#regions.of(code) ?? null) : null
  }

  /** The language of a code such as `de` or `de-AT`; `null` for anything else. */
  languageOf(code: string): string | null {
    return /^[a-z]{2,3}(-[A-Z]{2})?$/.test(code) ? (this.#languages.of(code) ?? null) : null
  }
}
