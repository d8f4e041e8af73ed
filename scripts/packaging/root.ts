import { fileURLToPath } from 'node:url'

/** The clone's folder, with a trailing separator. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
