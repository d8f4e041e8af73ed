import { isObject } from '../../../domain/json.ts'
import { html, type Markup } from '../../markup.ts'
import { inline, type Json, list, object, prose } from './markup.ts'
import type { Operation, Parameter, ResponseOutline } from './outline.ts'

/** One operation: its parameters and responses on one side, an example on the other. */
export function operationSection(operation: Operation): Markup {
  const { id, method, path, summary, description, scope, parameters, exampleBody, responses } = operation
  const [success] = responses
  // Data attributes for the form of try-it.js.
  const key = scope === null ? null : html` data-scope="${scope}"`
  const body = exampleBody === undefined ? null : html` data-body="${JSON.stringify(exampleBody)}"`
  return html`<section class="operation" id="${id}" aria-labelledby="${id}.title" data-method="${method}" data-path="${path}"${key}${body}>
<h3 id="${id}.title">${summary} ${anchor(id)}</h3>
<p class="request"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code> ${credential(operation)}</p>
<div class="columns">
<div>
${prose(description)}
${parameters.length === 0 ? null : html`<h4>Parameters</h4><dl class="fields">${parameters.map((each) => parameterEntry(id, each))}</dl>`}
${success === undefined ? null : responseFields(success)}
<h4>Responses</h4>
<ul class="responses">${responses.map(responseEntry)}</ul>
</div>
<div class="aside">
${codeBlock('Request', html`${curl(operation)}`)}
${success?.example === undefined ? null : codeBlock(`Response ${success.status}`, json(success.example))}
</div>
</div>
</section>
`
}

/** What a request must send: a key with a scope, a variable token, or nothing. */
function credential({ scope, takesToken }: Operation): Markup {
  if (scope !== null) return html`<a class="chip" href="#authentication">${scope}</a>`
  return html`<span class="chip">${takesToken ? 'variable token' : 'no key'}</span>`
}

/** A link to the section itself. */
export function anchor(id: string): Markup {
  return html`<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
}

/** Links to the headers of a response. */
export function headerLinks(headers: readonly string[]): Markup {
  const links = headers.map((name) => html`<a href="#headers.${name}"><code>${name}</code></a>`)
  return html`${links.map((link, index) => (index === 0 ? link : html`, ${link}`))}`
}

/** The constraints on the value of a parameter or a header. */
export function ruleText(rule: string | null): Markup | null {
  return rule === null ? null : html`<p class="rule">${inline(rule)}</p>`
}

function parameterEntry(
  operationId: string,
  { name, location, isRequired, description, schema, example }: Parameter,
): Markup {
  const id = `${operationId}.${name}`
  // The body is one field of the form, and a request ID is generated if none is sent.
  const field =
    location === 'path' || location === 'query'
      ? html` data-in="${location}"${example === null ? null : html` data-example="${example}"`}${isRequired ? html` data-required` : null}`
      : null
  return html`<div id="${id}">
<dt${field}><a href="#${id}"><code>${name}</code></a> <span>${typeOf(schema)}, in the ${location}${isRequired ? ', required' : ''}</span></dt>
<dd>${prose(description)}${ruleText(ruleOf(schema))}</dd>
</div>
`
}

function responseFields({ schema }: ResponseOutline): Markup | null {
  // The fields of every response are described once, at the top of the page.
  const fields = fieldsOf(schema).filter(({ path }) => path !== 'data' && !path.startsWith('meta'))
  if (fields.length === 0) return null
  return html`<h4>Response fields</h4><dl class="fields compact">${fields.map(fieldEntry)}</dl>`
}

export function fieldEntry({
  path,
  type,
  isOptional,
  description,
}: ReturnType<typeof fieldsOf>[number]): Markup {
  return html`<div>
<dt><code>${path}</code> <span>${type}${isOptional ? ', optional' : ''}</span></dt>
<dd>${description === '' ? null : prose(description)}</dd>
</div>
`
}

function responseEntry({ status, code, description, headers }: ResponseOutline): Markup {
  const name = code === null ? null : html` <a href="#errors.${code}"><code>${code}</code></a>`
  return html`<li><p><span class="status s${status.slice(0, 1)}">${status}</span>${name}</p>
<p>${inline(description)}</p><p class="headers">${headerLinks(headers)}</p></li>
`
}

/** A field of a response by its path, such as `data.subjects[].counts`. */
interface Field {
  path: string
  type: string
  isOptional: boolean
  description: string
}

/** All fields of a schema in order, parents before children. */
export function fieldsOf(schema: Json, path = ''): Field[] {
  const required = list(schema.required)
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, value]) => {
    const inner = object(value)
    const isList = inner.type === 'array' && isObject(inner.items)
    const here = path === '' ? name : `${path}.${name}`
    const field = {
      path: here,
      type: typeOf(inner),
      isOptional: !required.includes(name),
      description: typeof inner.description === 'string' ? inner.description : '',
    }
    return [field, ...(isList ? fieldsOf(object(inner.items), `${here}[]`) : fieldsOf(inner, here))]
  })
}

/** The type of a value, in a few words. */
export function typeOf({ type, format, const: only, enum: choices, anyOf, items }: Json): string {
  if (anyOf !== undefined) return list(anyOf).map(object).map(typeOf).join(' or ')
  if (only !== undefined) return JSON.stringify(only)
  if (type === 'array') return `list of ${isObject(items) ? typeOf(items) : 'any'}`
  if (format === 'date-time') return 'timestamp'
  if (choices !== undefined) return list(choices).map(String).join(' | ')
  return typeof type === 'string' ? type : 'any'
}

/** The constraints of a schema, from its `x-rule` or its keywords; `null` if it has none. */
export function ruleOf(schema: Json): string | null {
  const { 'x-rule': rule, default: fallback, minimum, minLength, maxLength, pattern } = schema
  const parts = [
    typeof rule === 'string' ? rule : null,
    rule === undefined && minimum !== undefined ? `at least ${minimum}` : null,
    rule === undefined && minLength !== undefined ? `at least ${minLength} characters` : null,
    rule === undefined && maxLength !== undefined ? `at most ${maxLength} characters` : null,
    rule === undefined && typeof pattern === 'string' ? `matches \`${pattern}\`` : null,
    fallback === undefined ? null : `default \`${fallback}\``,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join('; ')
}

/** A titled block of code. It can be focused, because it scrolls if it is too wide. */
export function codeBlock(title: string, code: Markup): Markup {
  return html`<figure class="code"><figcaption>${title}</figcaption><pre tabindex="0" role="group" aria-label="${title}"><code>${code}</code></pre></figure>`
}

/** Indented JSON with highlighted keys, strings and other values. */
export function json(value: unknown): Markup {
  const lines = JSON.stringify(value, null, 2)
  const parts = lines.split(/("(?:[^"\\]|\\.)*"(?::)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : html`<span class="${kindOf(part)}">${part}</span>`))}`
}

function kindOf(part: string): string {
  if (part.endsWith('":')) return 'key'
  return part.startsWith('"') ? 'text' : 'value'
}

/** The curl command for an operation, with example parameters. */
export function curl({ method, path, scope, parameters, exampleBody }: Operation): string {
  const examples = parameters.filter(({ example }) => example !== null)
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => examples.find((each) => each.name === name)?.example ?? name,
  )
  const query = examples
    .filter(({ location }) => location === 'query')
    .map(({ name, example }) => `${name}=${example}`)
  const address = `"$LETHE_URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  return [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    ...(scope === null ? [] : ['-H "Authorization: Bearer $LETHE_API_KEY"']),
    ...(exampleBody === undefined ? [] : [`--json '${JSON.stringify(exampleBody)}'`]),
    address,
  ].join(' \\\n  ')
}
