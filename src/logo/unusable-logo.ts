/** A file that cannot be used as a logo. The message continues "The file …". */
export class UnusableLogo extends Error {
  override name = 'UnusableLogo'
}
