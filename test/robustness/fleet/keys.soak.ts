import { rotationTests } from './rotation-tests.ts'

rotationTests(1_000)
