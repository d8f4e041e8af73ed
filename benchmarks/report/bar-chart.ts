/** A bar, with a line from the lowest to the highest round. */
export interface Bar {
  value: number
  low: number
  high: number
}

export interface BarChart {
  title: string
  /** What bars are called that stand together, in their order; a legend tells when there are several. */
  series: string[]
  rows: { name: string; bars: (Bar | null)[] }[]
  /** A value that is marked from top to bottom. */
  mark?: number
  show(value: number): string
}

const width = 720
const left = 210
const right = 80
const barHeight = 12
const rowGap = 10
const headHeight = 64

/** Draws bars from left to right as an SVG that can be read on light and on dark ground. */
export function drawBars({ title, series, rows, mark, show }: BarChart): string {
  const top = Math.max(mark ?? 0, ...rows.flatMap(({ bars }) => bars.map((bar) => bar?.high ?? 0))) || 1
  const x = (value: number) => (left + (value / top) * (width - left - right)).toFixed(1)
  const parts: string[] = []
  let y = headHeight
  for (const { name, bars } of rows) {
    const middle = y + (bars.length * barHeight) / 2 + 4
    parts.push(`<text class="name" x="${left - 12}" y="${middle}">${escaped(name)}</text>`)
    for (const [index, bar] of bars.entries()) {
      if (bar) parts.push(...drawBar(bar, index, y + index * barHeight))
    }
    y += bars.length * barHeight + rowGap
  }
  function drawBar({ value, low, high }: Bar, index: number, at: number): string[] {
    const line = at + (barHeight - 2) / 2
    return [
      `<rect class="s${index}" x="${left}" y="${at}" width="${(Number(x(value)) - left).toFixed(1)}" height="${barHeight - 2}"/>`,
      ...(high > low ? [`<path class="spread" d="M${x(low)} ${line}H${x(high)}"/>`] : []),
      `<text class="value" x="${Number(x(high)) + 6}" y="${line + 4}">${escaped(show(value))}</text>`,
    ]
  }
  if (mark !== undefined) parts.push(`<path class="mark" d="M${x(mark)} ${headHeight - 6}V${y - 4}"/>`)
  const told = rows.map(
    ({ name, bars }) => `${name}: ${bars.map((bar) => (bar ? show(bar.value) : '–')).join(', ')}`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 6}" width="${width}" height="${y + 6}" role="img" aria-labelledby="title text">
<title id="title">${escaped(title)}</title>
<desc id="text">${escaped(told.join('; '))}</desc>
<style>${style}</style>
<rect class="sheet" x="0.5" y="0.5" width="${width - 1}" height="${y + 5}" rx="8"/>
<text class="title" x="20" y="28">${escaped(title)}</text>
${legend(series)}
${parts.join('\n')}
</svg>
`
}

function legend(series: readonly string[]): string {
  if (series.length < 2) return ''
  const step = (width - 40) / series.length
  return series
    .map((name, index) => {
      const x = 20 + index * step
      return `<rect class="s${index}" x="${x}" y="38" width="10" height="10"/><text class="legend" x="${x + 15}" y="47">${escaped(name)}</text>`
    })
    .join('\n')
}

const style = `
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1d2730}
.title{font-size:16px;font-weight:600}.name{text-anchor:end}.value,.legend{font-size:11px;fill:#566370}
.sheet{fill:#fbfcfd;stroke:#d5dce3}.spread{stroke:#1d2730;stroke-width:1.5}.mark{stroke:#c9782b;stroke-dasharray:3 3;fill:none}
.s0{fill:#2f7d95}.s1{fill:#7fb5c4}.s2{fill:#c9a25e}.s3{fill:#8a8fb8}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.value,.legend{fill:#9fadb9}.sheet{fill:#151b21;stroke:#33404b}
.spread{stroke:#e6edf3}.mark{stroke:#d08a45}.s0{fill:#58b2cb}.s1{fill:#2f6678}.s2{fill:#b98f45}.s3{fill:#7177a8}}
`

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
