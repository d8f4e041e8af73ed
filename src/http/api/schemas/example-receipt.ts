// A receipt of an organisation "acme" as the reference shows it; a test checks it against the key beside it.

export const exampleVerifierKey = 'lethe.local/acme+a8afbc03+ARR3CRG3RkQnc6poiISCnrMCKoE5VoGMNZMf43b1fMov'

export const exampleHead = { size: 3, rootHash: 'FVugcFo6ZzqIEmf/XV+xFfRBLv+YtApH5eEx2ElMseE=' }

export const exampleEntry = {
  index: 2,
  record:
    '{"alreadyErased":false,"counts":{"events":17,"sessions":3},"erasedAt":"2026-11-15T09:30:00.000Z","subject":"sB5ApczUfdfwLa9xLc12H4w_9pmUgKgr1SpajRgg4qM","trackerId":"shop","version":1}',
  leafHash: 'iLaQYUqWEv300d1lyR/eXJS1fDfKAtQxc4M2XDknweI=',
}

export const exampleCheckpoint = [
  'lethe.local/acme',
  '3',
  'FVugcFo6ZzqIEmf/XV+xFfRBLv+YtApH5eEx2ElMseE=',
  '',
  '— lethe.local/acme qK+8Aw5dcmz4Af1k5FQYPLbrcoyemGdaNXQbeLaUVzbIABkiuF+Cx1LAbXm5+vqYyILUt6a3UGmfCR8VMhpkQEzcuAw=',
  '',
].join('\n')

export const exampleReceipt = [
  'c2sp.org/tlog-proof@v1',
  'extra eyJub25jZSI6Ikg5ZVBMQW10OHoyRUJXdDFzX0RpMktLeThLZGdPZk1JaE42V1hrUS1PbEEiLCJyZWNvcmQiOiJ7XCJhbHJlYWR5RXJhc2VkXCI6ZmFsc2UsXCJjb3VudHNcIjp7XCJldmVudHNcIjoxNyxcInNlc3Npb25zXCI6M30sXCJlcmFzZWRBdFwiOlwiMjAyNi0xMS0xNVQwOTozMDowMC4wMDBaXCIsXCJzdWJqZWN0XCI6XCJzQjVBcGN6VWZkZndMYTl4TGMxMkg0d185cG1VZ0tncjFTcGFqUmdnNHFNXCIsXCJ0cmFja2VySWRcIjpcInNob3BcIixcInZlcnNpb25cIjoxfSJ9',
  'index 2',
  'FQ8u1qmlKOMkEGOlUadeUARHmidLB+7rVQvuKvJqKOg=',
  '',
  exampleCheckpoint,
].join('\n')
