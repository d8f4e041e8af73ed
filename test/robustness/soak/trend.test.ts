import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chart, csv, type Measure, measures, type Sample, trendsOf } from './trend.ts'

const calm = { residentMb: 190, heapMb: 40, handles: 42, p50Ms: 1, p99Ms: 8 }

/** An hour of samples; `change` changes each of the 360 calm ones. */
function hour(change: (look: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 360 }, (_, look) => ({ second: look * 10, ...calm, ...change(look) }))
}

function rising(samples: readonly Sample[]): Measure[] {
  return trendsOf(samples).flatMap(({ measure, rises }) => (rises ? [measure] : []))
}

describe('the trend of a soak', () => {
  it('does not rise in a calm hour', () => {
    assert.deepEqual(rising(hour()), [])
  })

  const leaks: Record<Measure, number> = { residentMb: 60, heapMb: 20, handles: 30, p50Ms: 3, p99Ms: 30 }
  for (const measure of measures) {
    it(`shows a slow rise of ${measure}`, () => {
      const leak = leaks[measure]
      assert.deepEqual(rising(hour((look) => ({ [measure]: calm[measure] + (leak * look) / 360 }))), [
        measure,
      ])
    })

    it(`does not rise for a warm-up, a spike or one busy quarter of ${measure}`, () => {
      const often = calm[measure] * 3
      assert.deepEqual(rising(hour((look) => ({ [measure]: look < 50 ? 1 : calm[measure] }))), [])
      assert.deepEqual(rising(hour((look) => (look % 7 === 0 ? { [measure]: often } : {}))), [])
      assert.deepEqual(rising(hour((look) => (look > 300 ? { [measure]: often } : {}))), [])
    })
  }

  it('is drawn and written with every sample', () => {
    const samples = hour()
    const points = [...chart('An hour', samples).matchAll(/<polyline points="([^"]+)"/g)]
    assert.deepEqual(
      points.map(([, list = '']) => list.split(' ').length),
      measures.map(() => 360),
    )
    const lines = csv(samples).trimEnd().split('\n')
    assert.equal(lines.length, 361)
    assert.equal(lines[1], '0,190.00,40.00,42.00,1.00,8.00')
  })
})
