import { exampleErasureParameters, exampleMeta } from './examples.ts'

// The receipt of the one erasure that the examples make; a test checks it against the key beside it.

export const exampleOrigin = 'lethe.local/sample'

export const exampleVerifierKey = 'lethe.local/sample+b53cd3fc+Adg2RagO0ojwpfGvuysXpX6rGoUnzpaFzfEOBlVfGf7y'

export const exampleHead = { size: 1, rootHash: 'UF56OoNdldBqsBQqPSRIsDzsuW3R1TUckDQAk5AWy/Y=' }

export const exampleEntry = {
  index: 0,
  record:
    '{"alreadyErased":false,"counts":{"events":3,"sessions":2},"erasedAt":"2026-11-15T09:30:00.000Z","subject":"Yr7ZFUovOMtAxGcbRlPdDqtiZb54lLSj-zKcnsAzsUc","trackerId":"sample-shop","version":1}',
  leafHash: exampleHead.rootHash,
}

export const exampleCheckpoint = [
  exampleOrigin,
  '1',
  exampleHead.rootHash,
  '',
  '— lethe.local/sample tTzT/IFkKNoaxGv6hmAQ3K/UjZkB4Yq0QxrzDDsGgl4sxwgf2Erd6NosR7js6Ex93kp7/AD/7p7YbleGo4rq7WqXLQU=',
  '',
].join('\n')

export const exampleReceipt = {
  erasedAt: exampleMeta.timestamp,
  alreadyErased: false,
  counts: { sessions: 2, events: 3 },
  receipt: [
    'c2sp.org/tlog-proof@v1',
    'extra eyJub25jZSI6IkZzV0VfRTFxYklVMUR2RXN0UUM0c3hMSEowaWM5MjFJejRsOXliamtxLWMiLCJyZWNvcmQiOiJ7XCJhbHJlYWR5RXJhc2VkXCI6ZmFsc2UsXCJjb3VudHNcIjp7XCJldmVudHNcIjozLFwic2Vzc2lvbnNcIjoyfSxcImVyYXNlZEF0XCI6XCIyMDI2LTExLTE1VDA5OjMwOjAwLjAwMFpcIixcInN1YmplY3RcIjpcIllyN1pGVW92T010QXhHY2JSbFBkRHF0aVpiNTRsTFNqLXpLY25zQXpzVWNcIixcInRyYWNrZXJJZFwiOlwic2FtcGxlLXNob3BcIixcInZlcnNpb25cIjoxfSJ9',
    'index 0',
    '',
    exampleCheckpoint,
  ].join('\n'),
}

export const exampleErasure = { ...exampleErasureParameters, ...exampleReceipt }
