import { createHash } from 'node:crypto'
import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import { programFolder } from '../../../runtime/program-files.ts'
import { type Asset, immutable, sendAsset, textAsset } from '../../asset.ts'
import { html, type Markup } from '../../markup.ts'
import type { Route } from '../../request-context.ts'
import { definePage } from '../../route.ts'
import { once } from '../../schema.ts'
import {
  authentication,
  budgetChapter,
  type Chapter,
  envelope,
  errorChapter,
  headerChapter,
} from './chapters.ts'
import { type Json, prose } from './markup.ts'
import { anchor, operationSection } from './operation.ts'
import { type Group, type Outline, outlineOf } from './outline.ts'

/** The addresses of the files that the page loads. */
interface PageFiles {
  style: string
  script: string
  icon: string
}

/** The management API, then the other services. */
type Documents = readonly [Json, ...Json[]]

/** The whole reference as one HTML page, readable without scripts. */
export function referencePage(
  [document, ...others]: Documents,
  budgets: Record<ApiBudgetName, Budget>,
  files: PageFiles,
): string {
  const outline = outlineOf(document)
  const before = [authentication(outline), budgetChapter(budgets, outline), envelope(outline)]
  const after = [errorChapter(outline), headerChapter(outline)]
  const { title, version, summary, description } = outline
  const groups = [outline, ...others.map(outlineOf)].flatMap((each) => each.groups)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${files.icon}">
<link rel="stylesheet" href="${files.style}">
<script src="${files.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="shell">
<header class="sidebar">
<a class="brand" href="#content"><img src="${files.icon}" alt="" width="34" height="34"><span><strong>Lethe</strong><small>API reference</small></span></a>
${contents(before, groups, after)}
</header>
<main class="page" id="content" tabindex="-1">
<h1>${title}</h1>
<p class="lead">${summary}</p>
${prose(description)}
<p class="needs"><span class="chip">version ${version}</span> <a class="chip" href="/v1/analytics/openapi.json">OpenAPI 3.1</a> <a class="chip" href="/v1/variables/openapi.json">OpenAPI 3.1 of the Variables API</a></p>
${before.map(chapterSection)}
${groups.map(
  (group) => html`<section id="${idOf(group)}" aria-labelledby="${idOf(group)}.title">
<h2 id="${idOf(group)}.title">${group.name} ${anchor(idOf(group))}</h2>
${prose(group.description)}
${group.operations.map((operation) => operationSection(operation))}</section>
`,
)}${after.map(chapterSection)}
</main>
</div>
</body>
</html>
`.text
}

/** The table of contents: open next to a wide page, collapsed above a narrow one. */
function contents(before: Chapter[], groups: Group[], after: Chapter[]): Markup {
  return html`<nav aria-label="Contents"><details class="contents"><summary>Contents</summary>
<ul>${before.map(chapterLink)}</ul>
${groups.map(
  (group) => html`<p><a href="#${idOf(group)}">${group.name}</a></p>
<ul>${group.operations.map(
    ({ id, method, summary }) =>
      html`<li><a href="#${id}"><span class="method ${method.toLowerCase()}">${method}</span> ${summary}</a></li>`,
  )}</ul>
`,
)}<ul>${after.map(chapterLink)}</ul>
</details></nav>`
}

function chapterLink({ id, title }: Chapter): Markup {
  return html`<li><a href="#${id}">${title}</a></li>`
}

function chapterSection({ id, title, body }: Chapter): Markup {
  return html`<section id="${id}" aria-labelledby="${id}.title">
<h2 id="${id}.title">${title} ${anchor(id)}</h2>
${body}
</section>
`
}

function idOf({ name }: Outline['groups'][number]): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }

/** The API reference: a page and its three files, created on the first request and kept in memory. */
export function referenceRoutes(documents: () => Documents, budgets: Record<ApiBudgetName, Budget>): Route[] {
  const made = once(() => {
    const [own, shared] = [programFolder('src/http/api/reference'), programFolder('console/shared')]
    const style = versioned('/docs/reference.css', 'css', [
      ...['tokens.css', 'base.css'].map(shared.read),
      ...['layout.css', 'parts.css'].map(own.read),
    ])
    const script = versioned('/docs/reference.js', 'js', ['reference.js', 'try-it.js'].map(own.read))
    const icon = versioned('/docs/icon.svg', 'svg', [shared.read('icon.svg')])
    const addresses = { style: style.address, script: script.address, icon: icon.address }
    return { page: asset('html', referencePage(documents(), budgets, addresses)), style, script, icon }
  })
  const file = (path: string, part: 'style' | 'script' | 'icon') =>
    definePage(path, ({ http, context }) => {
      const { address, content } = made()[part]
      // Under another address, as from the page of another version, it must not be cached.
      const caching = context.request.url === address ? immutable : 'no-store'
      sendAsset(http.respond, context, content, caching)
    })
  return [
    definePage('/docs', ({ http, context }) => sendAsset(http.respond, context, made().page, 'no-store')),
    file('/docs/reference.css', 'style'),
    file('/docs/reference.js', 'script'),
    file('/docs/icon.svg', 'icon'),
  ]
}

/** A file under an address that changes with its content. */
function versioned(path: string, type: keyof typeof types, parts: readonly Buffer[]) {
  const text = parts.map(String).join('\n')
  const version = createHash('sha256').update(text).digest('hex').slice(0, 10)
  return { address: `${path}?v=${version}`, content: asset(type, text) }
}

function asset(type: keyof typeof types, text: string): Asset {
  return textAsset(type === 'svg' ? types.svg : `${types[type]}; charset=utf-8`, text)
}
