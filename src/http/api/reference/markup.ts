import { isObject } from '../../../domain/json.ts'
import { html, type Markup } from '../../markup.ts'

/** Text of the document: paragraphs, with `code` in backticks. */
export function prose(text: string): Markup {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`
}

/** One line of such text. */
export function inline(text: string): Markup {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

export type Json = Record<string, unknown>

/** The value as an object; anything else is a mistake in our own document. */
export function object(value: unknown): Json {
  if (!isObject(value)) throw new Error('The OpenAPI document has no object where the reference needs one.')
  return value
}

/** The value as a text; anything else is a mistake in our own document. */
export function text(value: unknown): string {
  if (typeof value !== 'string')
    throw new Error('The OpenAPI document has no text where the reference needs one.')
  return value
}

/** The value as a list; empty if it is not one. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Replaces every `$ref` within a value by its target. */
export function resolver(document: Json): (value: unknown) => Json {
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    if (typeof value.$ref === 'string') return walk(follow(value.$ref))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]))
  }
  function follow(reference: string): unknown {
    return reference
      .split('/')
      .slice(1)
      .reduce<unknown>((inner, name) => object(inner)[name], document)
  }
  return (value) => object(walk(value))
}
