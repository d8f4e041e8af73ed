import { requestStory } from './request-story.ts'

requestStory('PostgreSQL')
