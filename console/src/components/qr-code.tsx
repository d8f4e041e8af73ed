import { encode } from 'uqr'

/** The light border that readers need, in modules. */
const border = 4

/** A text as a QR code, black on white in every theme. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 0 })
  const extent = size + 2 * border
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`${-border} ${-border} ${extent} ${extent}`}>
      <rect x={-border} y={-border} width={extent} height={extent} fill="white" />
      <path d={data.map(pathOfRow).join('')} fill="black" shape-rendering="crispEdges" />
    </svg>
  )
}

/** The dark modules of a row as rectangles, adjacent ones as one. */
function pathOfRow(modules: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0; x < modules.length; x++) {
    const from = x
    while (modules[x]) x++
    if (x > from) path += `M${from} ${y}h${x - from}v1H${from}z`
  }
  return path
}
