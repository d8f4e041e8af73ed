import { html, inline, isObject, type Json, list, type Markup, object, prose } from './markup.ts'
import type { Answer, Operation, Parameter } from './outline.ts'

/** One operation: what it takes and gives on one side, a request and its answer on the other. */
export function operationSection(operation: Operation): Markup {
  const { id, method, path, summary, description, scope, parameters, exampleBody, answers } = operation
  const [success] = answers
  // What the script makes a form of.
  const key = scope === null ? null : html` data-scope="${scope}"`
  const body = exampleBody === undefined ? null : html` data-body="${JSON.stringify(exampleBody)}"`
  return html`<section class="operation" id="${id}" aria-labelledby="${id}.title" data-method="${method}" data-path="${path}"${key}${body}>
<h3 id="${id}.title">${summary} ${anchor(id)}</h3>
<p class="request"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code> ${scope === null ? html`<span class="chip">no key</span>` : html`<a class="chip" href="#authentication">${scope}</a>`}</p>
<div class="columns">
<div>
${prose(description)}
${parameters.length === 0 ? null : html`<h4>Parameters</h4><dl class="fields">${parameters.map((each) => parameterEntry(id, each))}</dl>`}
${success === undefined ? null : answerFields(success)}
<h4>Responses</h4>
<ul class="answers">${answers.map(answerEntry)}</ul>
</div>
<div class="aside">
${codeBlock('Request', html`${curl(operation)}`)}
${success?.example === undefined ? null : codeBlock(`Response ${success.status}`, json(success.example))}
</div>
</div>
</section>
`
}

/** A link to where one is, to hand on. */
export function anchor(id: string): Markup {
  return html`<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
}

/** The headers of an answer, each leading to what it means. */
export function headerLinks(headers: readonly string[]): Markup {
  const links = headers.map((name) => html`<a href="#headers.${name}"><code>${name}</code></a>`)
  return html`${links.map((link, index) => (index === 0 ? link : html`, ${link}`))}`
}

/** Everything else that an operation's parameter or an answer's header says about its value. */
export function ruleText(rule: string | null): Markup | null {
  return rule === null ? null : html`<p class="rule">${inline(rule)}</p>`
}

function parameterEntry(
  operationId: string,
  { name, place, isRequired, description, schema, example }: Parameter,
): Markup {
  const id = `${operationId}.${name}`
  // Those in the body are one field of the form, and an id of the request is made where there is none.
  const field =
    place === 'path' || place === 'query'
      ? html` data-in="${place}"${example === null ? null : html` data-example="${example}"`}${isRequired ? html` data-required` : null}`
      : null
  return html`<div id="${id}">
<dt${field}><a href="#${id}"><code>${name}</code></a> <span>${typeOf(schema)}, in the ${place}${isRequired ? ', required' : ''}</span></dt>
<dd>${prose(description)}${ruleText(ruleOf(schema))}</dd>
</div>
`
}

function answerFields({ schema }: Answer): Markup | null {
  // What every answer has is told once, at the top of the page.
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

function answerEntry({ status, code, description, headers }: Answer): Markup {
  const name = code === null ? null : html` <a href="#errors.${code}"><code>${code}</code></a>`
  return html`<li><p><span class="status s${status.slice(0, 1)}">${status}</span>${name}</p>
<p>${inline(description)}</p><p class="headers">${headerLinks(headers)}</p></li>
`
}

/** A field of an answer, by its way from the top: `data.subjects[].counts`. */
interface Field {
  path: string
  type: string
  isOptional: boolean
  description: string
}

/** Every field that a schema names, in its order, each before its own fields. */
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

/** What a value is, in a few words. */
export function typeOf({ type, format, const: only, enum: choices, anyOf, items }: Json): string {
  if (anyOf !== undefined) return list(anyOf).map(object).map(typeOf).join(' or ')
  if (only !== undefined) return JSON.stringify(only)
  if (type === 'array') return `list of ${isObject(items) ? typeOf(items) : 'any'}`
  if (format === 'date-time') return 'timestamp'
  if (choices !== undefined) return list(choices).map(String).join(' | ')
  return typeof type === 'string' ? type : 'any'
}

/** What a value must keep to, as the schema says it in words, else from its keywords; `null` where anything goes. */
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

/** A block of code under its own title. One that is too wide scrolls, and so can be reached with the keyboard. */
export function codeBlock(title: string, code: Markup): Markup {
  return html`<figure class="code"><figcaption>${title}</figcaption><pre tabindex="0" role="group" aria-label="${title}"><code>${code}</code></pre></figure>`
}

/** JSON as people read it, with its keys, texts and other values told apart. */
export function json(value: unknown): Markup {
  const lines = JSON.stringify(value, null, 2)
  const parts = lines.split(/("(?:[^"\\]|\\.)*"(?::)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : html`<span class="${kindOf(part)}">${part}</span>`))}`
}

function kindOf(part: string): string {
  if (part.endsWith('":')) return 'key'
  return part.startsWith('"') ? 'text' : 'value'
}

/** The command that sends an operation's request, with the examples of its parameters. */
export function curl({ method, path, scope, parameters, exampleBody }: Operation): string {
  const examples = parameters.filter(({ example }) => example !== null)
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => examples.find((each) => each.name === name)?.example ?? name,
  )
  const query = examples
    .filter(({ place }) => place === 'query')
    .map(({ name, example }) => `${name}=${example}`)
  const address = `"$LETHE_URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  return [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    ...(scope === null ? [] : ['-H "Authorization: Bearer $LETHE_API_KEY"']),
    ...(exampleBody === undefined ? [] : [`--json '${JSON.stringify(exampleBody)}'`]),
    address,
  ].join(' \\\n  ')
}
