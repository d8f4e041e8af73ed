import { exampleMeta, exampleOrigin } from './examples.ts'

// The first request is created by the example of its creation; the others are among the sample data of
// `npm start`. In the order of the operations, each request gives the response shown here.

const nothing = { subjects: 0, sessions: 0, events: 0 }

export const exampleCreation = {
  requestId: '0b9d8a52-7c1e-4f3a-9a66-3d2f5e8c1b70',
  kind: 'erasure',
  person: { identifiers: [{ name: 'email', value: 'bela@example.com' }] },
  receivedAt: '2026-11-12T08:15:00.000Z',
  reference: 'Ticket 1041',
} as const

const { person, ...created } = exampleCreation

export const exampleRequest = {
  ...created,
  state: 'open' as const,
  dueAt: '2026-12-12T08:15:00.000Z',
  ...{ extendedAt: null, closedAt: null, reason: null },
  person: { identifiers: [...person.identifiers], subjects: [] },
  found: { subjects: 3, sessions: 5, events: 12 },
  ...{ erased: nothing, left: null, resumesAt: null },
}

export const exampleRequestList = {
  requests: [
    {
      ...exampleRequest,
      requestId: '7d3f0c2e-58a1-4b6d-9e47-c1a5f2b8d603',
      kind: 'access' as const,
      reference: 'Ticket 1018',
      receivedAt: '2026-10-11T09:30:00.000Z',
      dueAt: '2026-11-11T09:30:00.000Z',
      person: { identifiers: [{ name: 'email', value: 'hanna@example.com' }], subjects: [] },
      found: { subjects: 3, sessions: 3, events: 4 },
    },
  ],
  nextCursor: '94lNcjn5O66CWzE3OTQzODk0MDAwMDAsIjdkM2YwYzJlLTU4YTEtNGI2ZC05ZTQ3LWMxYTVmMmI4ZDYwMyJd',
}

export const exampleExtended = {
  ...exampleRequest,
  dueAt: '2027-02-12T08:15:00.000Z',
  extendedAt: exampleMeta.timestamp,
  reason: 'The data is in several systems.',
}

export const exampleErased = {
  ...exampleExtended,
  ...{ state: 'done' as const, closedAt: exampleMeta.timestamp, person: null },
  ...{ erased: exampleRequest.found, left: 0 },
}

const closed = {
  ...exampleRequest,
  receivedAt: '2026-11-14T09:30:00.000Z',
  dueAt: '2026-12-14T09:30:00.000Z',
  closedAt: exampleMeta.timestamp,
  person: null,
}

export const exampleRejected = {
  ...closed,
  requestId: '1c5f0e37-92b4-4d68-8e0a-57a1c3d9f284',
  state: 'rejected' as const,
  reference: 'Ticket 1042',
  reason: 'We could not confirm that the request is from the person.',
  found: { subjects: 3, sessions: 4, events: 15 },
}

export const exampleCancelled = {
  ...closed,
  requestId: '2d8a6b49-13c5-4e7f-a1b2-68b2d4eaf395',
  state: 'cancelled' as const,
  reference: 'Ticket 1043',
  found: { subjects: 3, sessions: 5, events: 13 },
}

export const exampleClosed = {
  ...closed,
  requestId: '3e9b7c5a-24d6-4f80-b2c3-79c3e5fb04a6',
  kind: 'access' as const,
  state: 'done' as const,
  reference: 'Ticket 1044',
  found: { subjects: 3, sessions: 8, events: 23 },
}

const certificateHead = [
  exampleOrigin,
  '11',
  '22LVRzOIaTAGb5w7UoAWYwDhtJZX7kNyLupCU1aleG8=',
  '',
  '— lethe.local/sample tTzT/FmYpjv6+4btXaNYCbM7cvaRlxDOIWrAshu5reRgA5Seed+WuKMa615Tb75XST1078ocSGXjfcaqi9cHuqdPrgE=',
  '',
]

/** An erasure with its receipt, which a test verifies. */
function certified(
  index: number,
  trackerId: string,
  counts: { sessions: number; events: number },
  extra: string,
  proof: readonly string[],
) {
  const lines = ['c2sp.org/tlog-proof@v1', `extra ${extra}`, `index ${index}`, ...proof, '']
  const receipt = [...lines, ...certificateHead].join('\n')
  return { trackerId, erasedAt: exampleMeta.timestamp, alreadyErased: false, counts, index, receipt }
}

export const exampleCertificate = {
  requestId: exampleErased.requestId,
  kind: exampleErased.kind,
  reference: exampleErased.reference,
  receivedAt: exampleErased.receivedAt,
  closedAt: exampleErased.closedAt,
  complete: true,
  entries: [
    certified(
      ...([8, 'sample-blog', { sessions: 1, events: 3 }] as const),
      'eyJub25jZSI6Ik91R2F6V29VeExxZVRQWjNZNEZZeUF6b3daSDdmWktmeDdqRjJqaVA5djgiLCJyZWNvcmQiOiJ7XCJhbHJlYWR5RXJhc2VkXCI6ZmFsc2UsXCJjb3VudHNcIjp7XCJldmVudHNcIjozLFwic2Vzc2lvbnNcIjoxfSxcImVyYXNlZEF0XCI6XCIyMDI2LTExLTE1VDA5OjMwOjAwLjAwMFpcIixcInN1YmplY3RcIjpcIjk3OHY4SWRuaENPdDN6QXZJRkdwd2dhUzVqVTA4MmpwUURLV3A3ZjMyZklcIixcInRyYWNrZXJJZFwiOlwic2FtcGxlLWJsb2dcIixcInZlcnNpb25cIjoxfSJ9',
      [
        '0UHgijC0aVmvAlURXMq7omsrI0HRZ6KuadJU1x+VZdg=',
        'hXWrQ03Ajcwam35iHHyXCtjgJOsF+OmlVwnhg3gEO3c=',
        'uhp8WWLBDi9TvjLIA+6ChR4JS4Ra1w5l61h4+CCNW2M=',
      ],
    ),
    certified(
      ...([9, 'sample-shop', { sessions: 2, events: 5 }] as const),
      'eyJub25jZSI6IjdPVTZzU0pRWkt6b1JpWkZXMW9IRWNCVWNSeGxFUWhnZ2tfRmpzQlFSQXciLCJyZWNvcmQiOiJ7XCJhbHJlYWR5RXJhc2VkXCI6ZmFsc2UsXCJjb3VudHNcIjp7XCJldmVudHNcIjo1LFwic2Vzc2lvbnNcIjoyfSxcImVyYXNlZEF0XCI6XCIyMDI2LTExLTE1VDA5OjMwOjAwLjAwMFpcIixcInN1YmplY3RcIjpcIlFxRzFuNXhISXYxdmw2ZWpZS2xSM2VSOUdFQXdveUR3QnV1QzdTR2tQTDhcIixcInRyYWNrZXJJZFwiOlwic2FtcGxlLXNob3BcIixcInZlcnNpb25cIjoxfSJ9',
      [
        'N8g113QuqAhEK1nlRkm6JKjHC5pVIO4/SJHPVbWvq0g=',
        'hXWrQ03Ajcwam35iHHyXCtjgJOsF+OmlVwnhg3gEO3c=',
        'uhp8WWLBDi9TvjLIA+6ChR4JS4Ra1w5l61h4+CCNW2M=',
      ],
    ),
    certified(
      ...([10, 'sample-shop', { sessions: 2, events: 4 }] as const),
      'eyJub25jZSI6Ild3c21pN1FmWVpHMDlJOHdIR0ZzdHo4aDhWWDR5VThERk43TzBuT0dWa3ciLCJyZWNvcmQiOiJ7XCJhbHJlYWR5RXJhc2VkXCI6ZmFsc2UsXCJjb3VudHNcIjp7XCJldmVudHNcIjo0LFwic2Vzc2lvbnNcIjoyfSxcImVyYXNlZEF0XCI6XCIyMDI2LTExLTE1VDA5OjMwOjAwLjAwMFpcIixcInN1YmplY3RcIjpcIlFlQXNreWhjWW11emNPTEhsOUJ3X21sWUl1N3k4LVRnN1NpdDlTeFlpYWdcIixcInRyYWNrZXJJZFwiOlwic2FtcGxlLXNob3BcIixcInZlcnNpb25cIjoxfSJ9',
      ['b4ax1jAQobguTHWfWSWtat7kH7LF8+nzMcte5WJAxd8=', 'uhp8WWLBDi9TvjLIA+6ChR4JS4Ra1w5l61h4+CCNW2M='],
    ),
  ],
  nothingHeld: [],
}
