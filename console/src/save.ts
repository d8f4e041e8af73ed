/** Downloads a URL under the file name of the response. */
export function save(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}
