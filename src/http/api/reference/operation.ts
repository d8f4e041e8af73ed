import { codeBlock, curl, json } from './code.ts'
import { html, inline, type Markup, prose } from './markup.ts'
import type { Answer, Operation, Parameter } from './outline.ts'
import { fieldsOf, ruleOf, typeOf } from './schema.ts'

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
