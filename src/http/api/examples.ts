// The examples use the sample data of `npm start`. On sample data created at the instant of `exampleMeta`,
// each request gives the response shown here. A test checks this.

export const exampleMeta = {
  requestId: '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34',
  timestamp: '2026-11-15T09:30:00.000Z',
}

/** A visitor of the sample shop with an e-mail address. */
export const exampleSubjectParameters = { trackerId: 'sample-shop', subjectId: 'visitor-61920061' }

/** Another visitor, who is erased. */
export const exampleErasureParameters = { trackerId: 'sample-shop', subjectId: 'visitor-18340075' }

const phone = { country: 'US', language: 'en', device: 'phone', os: 'iOS', browser: 'Safari' }

const exampleSummary = {
  subjectId: exampleSubjectParameters.subjectId,
  firstSeenAt: '2026-10-01T16:11:25.857Z',
  lastSeenAt: '2026-10-17T21:50:57.806Z',
  counts: { sessions: 2, events: 5 },
}

export const exampleSubject = {
  trackerId: exampleSubjectParameters.trackerId,
  ...exampleSummary,
  identifiers: [
    { name: 'email', value: 'bela@example.com' },
    { name: 'userId', value: '1001' },
  ],
  attributes: { ...phone, referrer: 'https://duckduckgo.com/' },
}

export const exampleSubjects = [
  {
    subjectId: 'visitor-61000455',
    firstSeenAt: '2026-08-12T22:15:56.248Z',
    lastSeenAt: '2026-08-18T10:58:37.119Z',
    counts: { sessions: 2, events: 9 },
  },
  {
    subjectId: 'visitor-61030170',
    firstSeenAt: '2026-07-01T13:02:49.858Z',
    lastSeenAt: '2026-07-01T13:02:49.858Z',
    counts: { sessions: 1, events: 1 },
  },
]

/** The data subjects with the same e-mail address, on another device and on the sample blog. */
export const exampleFound = [
  {
    trackerId: 'sample-shop',
    subjectId: 'visitor-78920062',
    firstSeenAt: '2026-06-21T18:23:25.317Z',
    lastSeenAt: '2026-07-11T21:47:52.050Z',
    counts: { sessions: 2, events: 4 },
  },
  {
    trackerId: 'sample-blog',
    subjectId: 'reader-a681',
    firstSeenAt: '2026-11-11T10:29:16.201Z',
    lastSeenAt: '2026-11-11T10:31:16.201Z',
    counts: { sessions: 1, events: 3 },
  },
  { trackerId: exampleSubjectParameters.trackerId, ...exampleSummary },
]

const [firstSession, secondSession] = ['visitor-61920061-1', 'visitor-61920061-2']

/** The subject's sessions, oldest first. */
export const exampleSessions = [
  {
    sessionId: firstSession,
    startedAt: '2026-10-01T16:11:25.857Z',
    endedAt: '2026-10-01T16:13:52.485Z',
    counts: { events: 3 },
    attributes: { ...phone, referrer: 'https://www.google.com/' },
  },
  {
    sessionId: secondSession,
    startedAt: '2026-10-17T21:50:45.088Z',
    endedAt: '2026-10-17T21:50:57.806Z',
    counts: { events: 2 },
    attributes: { ...phone, referrer: 'https://duckduckgo.com/' },
  },
]

/** The subject's events, oldest first. */
export const exampleEvents = [
  event(firstSession, 1, '2026-10-01T16:11:25.857Z', { url: 'https://shop.example/' }),
  event(firstSession, 2, '2026-10-01T16:12:51.953Z', { url: 'https://shop.example/' }),
  { ...event(firstSession, 3, '2026-10-01T16:13:52.485Z', { query: 'oak desk' }), name: 'search' },
  event(secondSession, 1, '2026-10-17T21:50:45.088Z', { url: 'https://shop.example/blog/oak' }),
  event(secondSession, 2, '2026-10-17T21:50:57.806Z', { url: 'https://shop.example/about' }),
]

function event(sessionId: string, number: number, occurredAt: string, properties: object) {
  return { eventId: `${sessionId}-${number}`, sessionId, name: 'pageview', occurredAt, properties }
}

// The receipt of the example erasure. A test verifies it with the key.

export const exampleOrigin = 'lethe.local/sample'

export const exampleVerifierKey = 'lethe.local/sample+b53cd3fc+Adg2RagO0ojwpfGvuysXpX6rGoUnzpaFzfEOBlVfGf7y'

export const exampleHead = { size: 8, rootHash: 'uhp8WWLBDi9TvjLIA+6ChR4JS4Ra1w5l61h4+CCNW2M=' }

export const exampleEntries = [
  {
    index: 0,
    record:
      '{"alreadyErased":false,"counts":{"events":1,"sessions":1},"erasedAt":"2026-11-15T09:30:00.000Z","subject":"wTeU4bbehnKxBXxvt5DDaQcIvBUYTt1s1JSe7mqo8bw","trackerId":"sample-blog","version":1}',
    leafHash: 'vj78iuXlytWsb7UuFQeCajf2ohILHFYWVCylg03Ndtw=',
  },
  {
    index: 1,
    record:
      '{"alreadyErased":false,"counts":{"events":4,"sessions":1},"erasedAt":"2026-11-15T09:30:00.000Z","subject":"9UzaqapWQwUu1uzuoxHQTsCzBerTwza8VzHwoR0Bo8Q","trackerId":"sample-shop","version":1}',
    leafHash: 'L7WdV4rOx/qXmx1mH5fHLn6otMbnU9Diu/9M6p/mA6k=',
  },
]

export const exampleCheckpoint = [
  exampleOrigin,
  String(exampleHead.size),
  exampleHead.rootHash,
  '',
  '— lethe.local/sample tTzT/GYLfHmD03ShCXNbV5s1OzWtYZGKG48glJICTTF1669N/+lrKzvaD/PLbIK4+L6YphsBNVTH0914EJTSfn87EQo=',
  '',
].join('\n')

export const exampleReceipt = {
  erasedAt: exampleMeta.timestamp,
  alreadyErased: false,
  counts: { sessions: 2, events: 3 },
  receipt: [
    'c2sp.org/tlog-proof@v1',
    'extra eyJub25jZSI6IkZzV0VfRTFxYklVMUR2RXN0UUM0c3hMSEowaWM5MjFJejRsOXliamtxLWMiLCJyZWNvcmQiOiJ7XCJhbHJlYWR5RXJhc2VkXCI6ZmFsc2UsXCJjb3VudHNcIjp7XCJldmVudHNcIjozLFwic2Vzc2lvbnNcIjoyfSxcImVyYXNlZEF0XCI6XCIyMDI2LTExLTE1VDA5OjMwOjAwLjAwMFpcIixcInN1YmplY3RcIjpcIllyN1pGVW92T010QXhHY2JSbFBkRHF0aVpiNTRsTFNqLXpLY25zQXpzVWNcIixcInRyYWNrZXJJZFwiOlwic2FtcGxlLXNob3BcIixcInZlcnNpb25cIjoxfSJ9',
    'index 7',
    'PAfmufegfrIdiTdYV8yhMYEaEgqabJfYqIMd8PpqFEY=',
    '3+v+haeNFIwy0B5PuscxSvmQWtLzDG/kOEOkcW3ZCJI=',
    'uP8xzmdzO+kRgfJsqPlBxNFek9cinWzpLjAaRUZueog=',
    '',
    exampleCheckpoint,
  ].join('\n'),
}

export const exampleErasure = { ...exampleErasureParameters, ...exampleReceipt }

export const exampleBatchParameters = { trackerId: 'sample-shop' }

export const exampleBatchLines = [
  {
    type: 'session',
    subjectId: 'visitor-1',
    sessionId: 's-1',
    startedAt: '2026-11-15T09:00:00.000Z',
    endedAt: '2026-11-15T09:06:30.000Z',
    attributes: { country: 'DE', browser: 'Firefox' },
    identifiers: { email: 'ada@example.com' },
  },
  {
    type: 'event',
    subjectId: 'visitor-1',
    sessionId: 's-1',
    eventId: 'e-1',
    name: 'pageview',
    occurredAt: '2026-11-15T09:00:00.000Z',
    properties: { url: 'https://shop.example/' },
  },
]

export const exampleBatch = {
  trackerId: 'sample-shop',
  lines: 2,
  added: { subjects: 1, sessions: 1, events: 1 },
  unchanged: 0,
  tooOld: 0,
  ofErased: 0,
  refusedCount: 0,
  refused: [],
}
