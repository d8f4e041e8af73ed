import { requestStory } from './request-story.ts'

requestStory('SQLite')
