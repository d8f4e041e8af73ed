/** The languages of texts for the people whom data is about. */
export const languages = ['en', 'de'] as const

export type Language = (typeof languages)[number]
