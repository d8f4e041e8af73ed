import type { Locator } from 'playwright-core'
import { decodeQR } from 'qr/decode.js'

/** The text of a QR code, read from its pixels as a camera would. */
export async function readQrCode(code: Locator): Promise<string> {
  const picture = (await code.screenshot()).toString('base64')
  // A new page, because the policy of the console does not allow such images.
  const page = await code.page().context().newPage()
  const { width, height, data } = await page.evaluate(async (source) => {
    const image = new Image()
    image.src = source
    await image.decode()
    const { width, height } = image
    const canvas = new OffscreenCanvas(width, height).getContext('2d')
    canvas?.drawImage(image, 0, 0)
    return { width, height, data: [...(canvas?.getImageData(0, 0, width, height).data ?? [])] }
  }, `data:image/png;base64,${picture}`)
  await page.close()
  return decodeQR({ width, height, data: Uint8Array.from(data) })
}
