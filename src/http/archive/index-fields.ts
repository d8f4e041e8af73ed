import type { Attributes } from '../../domain/session.ts'
import { html, type Markup } from '../markup.ts'
import type { Formats } from './index-formats.ts'
import { eventNames, fieldNames, texts } from './index-texts.ts'

/** How many fields of a row are shown, and how many characters of each. */
const maxDetails = 12
const maxLength = 300

export interface Field {
  name: string
  value: unknown
}

export function fieldsOf(attributes: Attributes): Field[] {
  return Object.entries(attributes).map(([name, value]) => ({ name, value }))
}

/** What a field is called, if it is a well-known one; otherwise its name. */
export function fieldName(name: string, formats: Formats): string {
  const known = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined
  return known === undefined ? name : formats.say(known)
}

/** What an event is, if it is a well-known one, and its name. */
export function eventName(name: string, formats: Formats): Markup {
  const known = Object.hasOwn(eventNames, name) ? eventNames[name] : undefined
  return known === undefined
    ? html`<bdi>${name}</bdi>`
    : html`${formats.say(known)} <span class="quiet">(<bdi>${name}</bdi>)</span>`
}

/** The value as text, with the meaning of well-known codes. */
export function fieldValue({ name, value }: Field, formats: Formats): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const meaning =
    name === 'country' ? formats.country(text) : name === 'language' ? formats.languageOf(text) : null
  return shorten(meaning === null ? text : `${meaning} (${text})`)
}

function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * maxLength + 2)]
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : text
}

/** The details of a visit or an event. `json` is an object as stored; empty if it is too long to be shown. */
export function details(json: string, formats: Formats): Markup {
  if (json === '') return html`<span class="quiet">${formats.say(texts.tooLong)}</span>`
  const fields = fieldsOf(JSON.parse(json))
  const more = fields.length - maxDetails
  const pairs = fields
    .slice(0, maxDetails)
    .map(
      (field) =>
        html`<span class="pair"><span>${fieldName(field.name, formats)}:</span> <bdi>${fieldValue(field, formats)}</bdi></span>`,
    )
  if (more <= 0) return html`${pairs}`
  return html`${pairs}<span class="pair quiet">${formats.say(texts.moreDetails)(formats.number(more))}</span>`
}
