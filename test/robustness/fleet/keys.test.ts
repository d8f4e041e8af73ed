import { rotationTests } from './rotation-tests.ts'

rotationTests(45)
