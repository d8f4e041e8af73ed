/** Whether an `Accept` header likes OpenMetrics best. It is for who asks for it by name: everybody else reads plain text. */
export function likesOpenMetrics(accept = ''): boolean {
  let [plain, open] = [0, 0]
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const value = (name: string) =>
      parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1)
    const weight = Number(value('q') ?? 1)
    if (type === 'application/openmetrics-text' && (value('version') ?? '1.0.0') === '1.0.0')
      open = Math.max(open, weight)
    if (type === 'text/plain') plain = Math.max(plain, weight)
  }
  return open > plain
}

/**
 * The text format of Prometheus as OpenMetrics has it: no empty lines, an end, and counters announced without the suffix of their
 * samples. prom-client can write it too, but takes that suffix from its counters for good.
 */
export function toOpenMetrics(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  const counters = new Set(lines.map((line) => /^# TYPE (\w+_total) counter$/.exec(line)?.[1]))
  const announced = lines.map((line) => {
    const [, keyword, name = '', rest] = /^# (HELP|TYPE) (\w+) (.*)$/.exec(line) ?? []
    return counters.has(name) ? `# ${keyword} ${name.slice(0, -'_total'.length)} ${rest}` : line
  })
  return `${announced.join('\n')}\n# EOF\n`
}
