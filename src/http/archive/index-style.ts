import { html } from '../markup.ts'

/** The style sheet of the index of a person's export, for screens and paper. It loads nothing. */
export const indexStyle = html`
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f7f5, #0f1416);
  --surface: light-dark(#ffffff, #171d20);
  --line: light-dark(#e3e3de, #2b3439);
  --text: light-dark(#1b2226, #e6eaeb);
  --muted: light-dark(#59636b, #9aa6ab);
  --accent: light-dark(#0d6570, #6cc6cf);
  --accent-soft: light-dark(#e2f1f2, #16343a);
  --bar: light-dark(#2f8d97, #4ba9b3);
}
*, *::before, *::after { box-sizing: border-box; }
html {
  background: var(--ground);
  color: var(--text);
  font: 16px / 1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  -webkit-text-size-adjust: 100%;
}
body, h1, h2, h3, p, dl, dd, ul, table { margin: 0; padding: 0; }
body { max-width: 54rem; margin: 0 auto; padding: 0 1.25rem 4rem; }
body > header { padding: 4rem 0 2.25rem; border-top: 6px solid var(--accent); }
.organisation { color: var(--accent); font-weight: 620; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h1 { margin: 0.15em 0 0.4em; font-size: clamp(2.2rem, 6vw, 3.1rem); font-weight: 640; letter-spacing: -0.03em; line-height: 1.1; }
h2 { font-size: 1.4rem; font-weight: 620; letter-spacing: -0.018em; line-height: 1.3; overflow-wrap: anywhere; }
h3 { margin: 2rem 0 0.4rem; font-size: 1.02rem; font-weight: 620; }
.lead { max-width: 38rem; font-size: 1.2rem; line-height: 1.5; }
p + p { margin-top: 0.6em; }
section { margin-bottom: 1.25rem; padding: 2rem 2.25rem 2.25rem; border: 1px solid var(--line); border-radius: 14px; background: var(--surface); }
h2 + * { margin-top: 0.9rem; }
a { color: var(--accent); text-underline-offset: 0.18em; }
:focus-visible { outline: 2.5px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.quiet, .note { color: var(--muted); }
.note { font-size: 0.9rem; }
bdi, code, .pair > span { overflow-wrap: anywhere; unicode-bidi: isolate; }
code { font: 0.88em ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; }
header dl { display: flex; flex-wrap: wrap; gap: 0.4rem 2.5rem; margin-top: 1.8rem; }
header dt, .facts dt { color: var(--muted); font-size: 0.88rem; }
header dd { overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.2rem, 1fr)); gap: 0.8rem; list-style: none; }
.figures li { padding: 1rem 1.1rem; border-radius: 10px; background: var(--accent-soft); }
.figures strong { display: block; font-size: 1.75rem; font-weight: 640; font-variant-numeric: tabular-nums; letter-spacing: -0.025em; line-height: 1.2; overflow-wrap: anywhere; }
.figures + p { margin-top: 1rem; }
.facts { display: grid; grid-template-columns: minmax(8rem, 11rem) 1fr; gap: 0.45rem 1.25rem; }
.facts dd { min-width: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 0.94rem; font-variant-numeric: tabular-nums; table-layout: fixed; }
caption { padding: 1.9rem 0 0.5rem; font-size: 1.02rem; font-weight: 620; text-align: start; }
caption .note { display: block; font-weight: 400; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--muted); font-size: 0.86rem; font-weight: 500; }
tbody th { font-weight: 500; }
tbody tr:last-child > * { border-bottom: 0; }
table + :not(table) { margin-top: 1rem; }
thead th, tbody th, dt { hyphens: auto; }
.number { text-align: end; }
.months col:nth-child(1) { width: 11rem; }
.months col:nth-child(2), .months col:nth-child(3) { width: 6.5rem; }
.bar { display: block; width: var(--share); min-width: 2px; height: 0.7rem; margin-top: 0.45rem; border-radius: 3px; background: var(--bar); }
.names col:nth-child(2) { width: 8rem; }
.pairs col:nth-child(1) { width: 36%; }
.visits col:nth-child(1), .visits col:nth-child(2) { width: 12.5rem; }
.visits col:nth-child(3) { width: 6rem; }
.rows col:nth-child(1) { width: 12.5rem; }
.rows col:nth-child(2) { width: 30%; }
.pair { display: block; }
.pair + .pair { margin-top: 0.15rem; }
.pair > span:first-child { color: var(--muted); }
.terms { list-style: none; margin-top: 0.5rem; }
.contact { margin: 0.8rem 0; padding: 0.9rem 1.1rem; border-radius: 10px; background: var(--accent-soft); white-space: pre-line; overflow-wrap: anywhere; }
@media (max-width: 44rem) {
  body > header { padding-top: 2.25rem; }
  section { padding: 1.35rem 1.2rem 1.5rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: 0.6rem; }
  .visits col:nth-child(1), .visits col:nth-child(2), .rows col:nth-child(1) { width: 28%; }
  .visits col:nth-child(3) { width: 4.4rem; }
  .figures li { padding: 0.8rem 0.75rem; }
  .months :is(col, th, td):nth-child(4) { display: none; }
  .months col:nth-child(n) { width: auto; }
}
@page { margin: 18mm 16mm 20mm; @bottom-right { content: counter(page) " / " counter(pages); font: 9pt system-ui, sans-serif; } }
@media print {
  :root { color-scheme: light; --ground: #ffffff; --accent-soft: #f1f4f4; }
  html { font-size: 10pt; line-height: 1.45; }
  body { max-width: none; padding: 0; }
  body > header { padding: 1.5rem 0 1rem; }
  section { margin: 0; padding: 1.4rem 0 0; border: 0; border-radius: 0; }
  section + section { margin-top: 1.2rem; border-top: 1px solid #cccccc; }
  a { color: inherit; text-decoration: none; }
  h2, h3, caption { break-after: avoid; }
  thead { display: table-header-group; }
  tr, .facts > *, .figures, .contact { break-inside: avoid; }
  .bar, .figures li, .contact { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`
