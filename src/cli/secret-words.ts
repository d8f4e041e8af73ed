/** What people are told of a secret that a command made for them. */
export function secretMadeInWords(path: string): string {
  return `Made a new secret at ${path}. Keep a copy of it, apart from the backups of the store.`
}
