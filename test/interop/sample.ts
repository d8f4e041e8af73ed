import { join } from 'node:path'
import { createSample } from '../../src/operations/sample.ts'
import { type ExampleRequest, exampleRequests } from '../support/example-requests.ts'
import { type Lifetime, startTestService } from '../support/service.ts'
import { workshop, write } from './tools.ts'

/** A running service with the sample of `npm start`, and its OpenAPI document in a file. */
export interface SampleService {
  url: string
  key: string
  folder: string
  /** The path of the document as served, in the folder. */
  document: string
  requests: ExampleRequest[]
}

export async function startSample(t: Lifetime, env: Record<string, string> = {}): Promise<SampleService> {
  const folder = workshop(t)
  const service = await startTestService(t, env)
  const { issued } = await createSample(service.services)
  const text = await (await fetch(`${service.url}/v1/analytics/openapi.json`)).text()
  return {
    url: service.url,
    key: issued.keyString,
    folder,
    document: write(join(folder, 'openapi.json'), text),
    requests: exampleRequests(JSON.parse(text)),
  }
}
