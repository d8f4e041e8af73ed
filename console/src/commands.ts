/** The command that lists a few data subjects of a tracker. */
export function listCommand(trackerId: string, key: string): string {
  return `curl -H 'Authorization: Bearer ${key}' '${apiUrl(`/v1/analytics/trackers/${encodeURIComponent(trackerId)}/subjects?limit=3`)}'`
}

/** The command that sends one event to a tracker, with a key or the variable that contains it. */
export function collectCommand(trackerId: string, key = '$LETHE_API_KEY', now = new Date()): string {
  const event = {
    type: 'event',
    subjectId: 'visitor-1',
    sessionId: 's-1',
    name: 'pageview',
    occurredAt: now.toISOString(),
  }
  return [
    `curl '${apiUrl(`/v1/ingest/trackers/${encodeURIComponent(trackerId)}/batches`)}'`,
    `-H "Authorization: Bearer ${key}"`,
    "-H 'Content-Type: application/x-ndjson'",
    `--data-binary '${JSON.stringify(event)}'`,
  ].join(' \\\n  ')
}

/** The command that imports a file to a tracker, on the machine of the service. */
export function importCommand(trackerId: string): string {
  return `npx lethe import visits.ndjson --tracker ${quoted(trackerId)}`
}

function apiUrl(path: string): string {
  return `${location.origin}${path.replaceAll("'", '%27')}`
}

function quoted(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
