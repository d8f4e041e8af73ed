import { setFlagsFromString } from 'node:v8'

/** V8 then lets the part of the heap for what is new stay as large as it is, which suits whoever makes little that is short-lived. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** As V8 does by itself: the more is made that is short-lived, the larger, so that less of it is looked at. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
