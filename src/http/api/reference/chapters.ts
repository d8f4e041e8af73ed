import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import { html, type Markup } from '../../markup.ts'
import { budgetInWords } from '../openapi/document.ts'
import { inline, prose } from './markup.ts'
import {
  anchor,
  codeBlock,
  curl,
  fieldEntry,
  fieldsOf,
  headerLinks,
  json,
  ruleOf,
  ruleText,
  typeOf,
} from './operation.ts'
import type { Header, Outline, ResponseOutline } from './outline.ts'

/** A chapter of the page that is not an operation. */
export interface Chapter {
  id: string
  title: string
  body: Markup
}

/** How to send an API key, with the variables of the other examples. */
export function authentication(outline: Outline): Chapter {
  const first = outline.groups.flatMap(({ operations }) => operations)[0]
  const setUp = html`export LETHE_URL=<span class="origin">http://127.0.0.1:8080</span>
export LETHE_API_KEY=lethe_&hellip;
`
  return {
    id: 'authentication',
    title: 'Authentication',
    body: html`<div class="columns"><div>
<p>Send the header <code>Authorization: Bearer &lt;API_KEY&gt;</code> with every request that is not marked &ldquo;no key&rdquo;.</p>
${prose(outline.authentication)}
<p>A request with a missing, malformed, revoked or expired key gets <a href="#errors.unauthorized">401</a>, and a request with a key that lacks the scope gets <a href="#errors.forbidden">403</a>. A resource of another organisation gets <a href="#errors.not_found">404</a>, as if it did not exist.</p>
</div><div class="aside">${codeBlock('From a shell', html`${setUp}${first ? curl(first) : null}`)}</div></div>`,
  }
}

const owners: Record<ApiBudgetName, string> = {
  ip: 'Each IP address, all requests',
  key: 'Each key, all requests',
  erasure: 'Each key, erasures only',
  variables: 'Each variable token, all requests',
}

/** The budgets of this service. */
export function budgetChapter(budgets: Record<ApiBudgetName, Budget>, { headers }: Outline): Chapter {
  const rows = (['ip', 'key', 'erasure', 'variables'] as const).map((name) => {
    return html`<tr><th scope="row">${owners[name]}</th><td>${budgetInWords(budgets[name])}</td></tr>`
  })
  const telling = headers.map(({ name }) => name).filter((name) => /^(X-RateLimit|Retry)-/.test(name))
  return {
    id: 'budgets',
    title: 'Budgets',
    body: html`<p>This service counts requests against these budgets. A window starts with the first request from the address, key or token.</p>
<table><thead><tr><th scope="col">Budget</th><th scope="col">Requests</th></tr></thead><tbody>${rows}</tbody></table>
<p>Every metered response, including errors, reports the budget that runs out first: ${headerLinks(telling)}. Stop at 0 and wait for the reset to avoid a <a href="#errors.rate_limited">429</a>. The headers are absent while the service cannot reach its shared limiter.</p>
<p>Erasures can be repeated safely, for example after a timeout or a 429. Spread large batches over the hour.</p>`,
  }
}

/** The format of every response. */
export function envelope({ errors }: Outline): Chapter {
  const [failure] = errors
  return {
    id: 'envelope',
    title: 'Response envelope',
    body: html`<p>A successful response has <code>data</code>, an error response has <code>error</code> instead, and both have <code>meta</code>.</p>
<dl class="fields compact">${failure ? fieldsOf(failure.schema).map(fieldEntry) : null}</dl>`,
  }
}

export function errorChapter({ errors }: Outline): Chapter {
  return { id: 'errors', title: 'Errors', body: html`${errors.map(errorEntry)}` }
}

function errorEntry({ status, code, description, headers, example }: ResponseOutline): Markup {
  const id = `errors.${code}`
  return html`<section class="error" id="${id}" aria-labelledby="${id}.title">
<h3 id="${id}.title"><span class="status s${status.slice(0, 1)}">${status}</span> <code>${code}</code> ${anchor(id)}</h3>
<div class="columns"><div><p>${inline(description)}</p><p class="headers">${headerLinks(headers)}</p></div>
<div class="aside">${codeBlock(`Response ${status}`, json(example))}</div></div>
</section>
`
}

export function headerChapter({ headers }: Outline): Chapter {
  return {
    id: 'headers',
    title: 'Headers',
    body: html`<dl class="fields">${headers.map(headerEntry)}</dl>`,
  }
}

function headerEntry({ name, description, schema }: Header): Markup {
  const id = `headers.${name}`
  return html`<div id="${id}"><dt><a href="#${id}"><code>${name}</code></a> <span>${typeOf(schema)}</span></dt><dd>${prose(description)}${ruleText(ruleOf(schema))}</dd></div>
`
}
