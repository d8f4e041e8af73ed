import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { identifierPattern, maxIdentifierLength } from '../../client/src/identifier.ts'
import { clientTypes } from '../../scripts/openapi/client-types.ts'
import * as domain from '../../src/domain/identifier.ts'

const root = new URL('../../', import.meta.url)
const document: unknown = JSON.parse(readFileSync(new URL('openapi/v1.json', root), 'utf8'))

/** A document with one component. */
function withSchema(schema: object) {
  return { paths: {}, components: { schemas: { Thing: { type: 'object', ...schema } } } }
}

describe("the client's types", () => {
  it('match the committed OpenAPI document', () => {
    assert.equal(readFileSync(new URL('client/src/api.ts', root), 'utf8'), clientTypes(document))
  })

  it('have a comment, required and optional fields, and a type guard', () => {
    const text = clientTypes(
      withSchema({
        description: 'A thing.',
        required: ['size'],
        properties: {
          size: { type: 'integer', description: 'How large.' },
          kind: { enum: ['a', 'b'], type: 'string' },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
        },
      }),
    )
    assert.match(
      text,
      /\/\*\* A thing\. \*\/\nexport interface Thing \{\n {2}\/\*\* How large\. \*\/\n {2}size: number\n/,
    )
    assert.match(text, /\n {2}kind\?: 'a' \| 'b'\n {2}parts\?: Thing\[\]\n\}/)
    assert.match(text, /export function isThing\(value: unknown\): value is Thing \{/)
  })

  it('reject a schema that they cannot express', () => {
    for (const odd of [{ type: 'tuple' }, { allOf: [] }, { const: 1 }]) {
      assert.throws(() => clientTypes(withSchema({ required: [], properties: { odd } })))
    }
  })
})

describe('the ID validation of the client', () => {
  it('matches that of the service', () => {
    assert.equal(identifierPattern, domain.identifierPattern)
    assert.equal(maxIdentifierLength, domain.maxIdentifierLength)
  })
})
