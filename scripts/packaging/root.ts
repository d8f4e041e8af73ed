import { fileURLToPath } from 'node:url'

/** The clone's folder, with a separator at its end. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
