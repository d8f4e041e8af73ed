import { type Measure, measures, type Sample } from './trend.ts'

const width = 860
const panelHeight = 150
const left = 60
const right = 110
const gap = 42

interface Panel {
  title: string
  lines: readonly { measure: Measure; name: string; colour: string }[]
}

const panels: readonly Panel[] = [
  {
    title: 'Memory, MB',
    lines: [
      { measure: 'residentMb', name: 'resident', colour: '#2f6f4f' },
      { measure: 'heapMb', name: 'heap', colour: '#b3632d' },
    ],
  },
  { title: 'Open file handles', lines: [{ measure: 'handles', name: 'handles', colour: '#2f6f4f' }] },
  {
    title: 'Latency, ms',
    lines: [
      { measure: 'p50Ms', name: 'median', colour: '#2f6f4f' },
      { measure: 'p99Ms', name: '99th percentile', colour: '#b3632d' },
    ],
  },
]

/** Draws what was sampled, one panel below the other over the same time, as an SVG image. */
export function chart(title: string, samples: readonly Sample[]): string {
  const height = gap + panels.length * (panelHeight + gap)
  const parts = panels.map((panel, number) =>
    drawPanel(panel, samples, 2 * gap + number * (panelHeight + gap)),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + gap}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${left}" y="28" font-size="16" font-weight="600">${title}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function drawPanel({ title, lines }: Panel, samples: readonly Sample[], top: number): string {
  const bottom = top + panelHeight
  const seconds = samples.at(-1)?.second ?? 1
  const most = niceAbove(
    Math.max(...lines.flatMap(({ measure }) => samples.map((sample) => sample[measure]))),
  )
  const x = (second: number) => left + (second / seconds) * (width - left - right)
  const y = (value: number) => bottom - (value / most) * panelHeight
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(share * most)
    return `<path d="M${left} ${at}H${width - right}" stroke="#ddd"/><text x="${left - 8}" y="${at + 4}" text-anchor="end" fill="#555">${share * most}</text>`
  })
  const minutes = [0, 0.5, 1].map((share) => {
    const label = `${Number(((share * seconds) / 60).toFixed(1))} min`
    return `<text x="${x(share * seconds)}" y="${bottom + 16}" text-anchor="middle" fill="#555">${label}</text>`
  })
  const drawn = lines.map(({ measure, name, colour }, number) => {
    const points = samples.map((sample) => `${x(sample.second).toFixed(1)},${y(sample[measure]).toFixed(1)}`)
    return (
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>` +
      `<text x="${width - right + 8}" y="${top + 12 + number * 16}" fill="${colour}">${name}</text>`
    )
  })
  return [
    `<text x="${left}" y="${top - 8}" font-weight="600">${title}</text>`,
    ...grid,
    ...minutes,
    ...drawn,
  ].join('\n')
}

/** The next of 1, 2, 5, 10, 20, 50 … that is not below a number. */
function niceAbove(number: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)))
  return ([1, 2, 5].find((step) => step * power >= number) ?? 10) * power
}

/** The same as lines for a spreadsheet. */
export function csv(samples: readonly Sample[]): string {
  const line = (sample: Sample) => [sample.second, ...measures.map((measure) => sample[measure].toFixed(2))]
  return `${[['second', ...measures], ...samples.map(line)].map((cells) => cells.join()).join('\n')}\n`
}
