import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { createOrganisation } from '../../../../src/operations/organisation.ts'
import { createTracker } from '../../../../src/operations/tracker.ts'
import { checkProperty } from '../check-property.ts'
import { Play } from './play.ts'
import { ServiceModel } from './service-model.ts'
import { type Step, step } from './steps.ts'
import { startFrozenService, Wire } from './wire.ts'

const noon = Date.parse('2026-11-15T12:00:00.000Z')

/** How many sequences of steps to run, and for how long, in milliseconds. */
interface ModelPlan {
  sequences: number
  timeout?: number
}

export async function modelTests({ sequences, timeout }: ModelPlan): Promise<void> {
  const service = await startFrozenService({ after })
  let count = 0

  /** Two organisations with three trackers and three keys in total, in the service and in a model. */
  async function open(wire: Wire): Promise<{ play: Play }> {
    const { services } = service
    const model = new ServiceModel(noon)
    service.setClock(noon)
    const play = new Play(service, model, wire)
    count += 1
    for (const [name, trackers] of [
      ['acme', 2],
      ['rival', 1],
    ] as const) {
      const { id } = await createOrganisation(services, { name, id: `${name}-${count}`, plan: 'free' })
      const organisation = { id, plan: 'free' as const }
      model.organisations.push(organisation)
      for (let number = 0; number < trackers; number++) {
        const tracker = { organisationId: id, name, id: `${name}-${count}-${number}` }
        model.addTracker((await createTracker(services, tracker)).id, organisation)
      }
      await play.createKey(organisation, ['analytics:view', 'analytics:delete-data'], null)
    }
    return { play }
  }

  describe('for any sequence of steps,', () => {
    it('every answer and every count matches a simple model', (t) => {
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
        async (steps: Step[]) => {
          const wire = new Wire(service.url)
          try {
            const { play } = await open(wire)
            for (const each of steps) await play.play(each)
            await play.checkAll()
          } finally {
            await wire.close()
          }
        },
      )
      return checkProperty(t, property, { runs: sequences, ...(timeout !== undefined && { timeout }) })
    })
  })
}
