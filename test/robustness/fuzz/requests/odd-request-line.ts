import { METHODS } from 'node:http'
import fc from 'fast-check'
import { brokenEncoding, strayBytes } from './encodings.ts'

/** A method that the path does not take, or that is none. */
export const oddMethod = fc.oneof(
  fc.constantFrom(...METHODS),
  fc.constantFrom(
    'get',
    'Delete',
    'GETT',
    'G',
    '',
    'G ET',
    'GET\u0000',
    'GE\u00ff',
    'PRI',
    'X'.repeat(3_000),
    '\u0016\u0003\u0001',
    'GET\t',
  ),
)

const any = fc
  .string({ unit: 'binary-ascii', maxLength: 60 })
  .map((text) => `/${text.replaceAll(/[\r\n]/g, '')}`)

/** A target that leads elsewhere, nowhere, or that is hardly one. */
export function oddTarget(usual: string): fc.Arbitrary<string> {
  const nowhere = fc.constantFrom(
    ...[
      '*',
      '',
      '/',
      '//',
      '///',
      '?',
      '/?',
      '/v1',
      '/v1/',
      '/v2/analytics/trackers/shop/subjects',
      '/V1/analytics/trackers/shop/subjects',
    ],
    ...[
      '/v1/analytics/trackers//subjects',
      '/v1/analytics/trackers',
      '/v1/analytics/../../etc/passwd',
      '/%2e%2e/%2e%2e',
      '/.git/config',
    ],
    ...[
      'http://test/healthz',
      'http://',
      'ftp://x/y',
      '//evil/healthz',
      'healthz',
      'evil:443',
      '/healthz/',
      '/HEALTHZ',
      '/%68ealthz',
      '/healthz;x=1',
    ],
    ...[
      '/console/api/keys',
      '/console/../v1',
      '/docs',
      '/docs/../healthz',
      '/metrics',
      `/${'a/'.repeat(3_000)}`,
      `/${'%41'.repeat(4_000)}`,
      `/?${'a=1&'.repeat(3_500)}`,
    ],
  )
  const broken = fc
    .tuple(
      fc.nat(usual.length),
      fc.oneof(
        brokenEncoding,
        strayBytes,
        fc.constantFrom('/', '//', '/./', '/../', ';', '?', '&&', '+', '='),
      ),
    )
    .map(([at, piece]) => usual.slice(0, at) + piece + usual.slice(at))
  return fc.oneof(nowhere, broken, broken, any)
}
