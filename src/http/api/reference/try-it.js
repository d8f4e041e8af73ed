// Sends requests from the page to its own service. Created by script, because it does not work without.

/** How much of a response is shown: an export can be far longer. */
const maxShownBytes = 1_048_576

addEventListener('DOMContentLoaded', () => {
  const dialog = makeDialog()
  document.body.append(dialog)
  for (const section of document.querySelectorAll('.operation')) {
    if (section instanceof HTMLElement) section.querySelector('.columns')?.before(tryIt(section, dialog))
  }
})

// The key is only in these fields, and a page restored by Back must not have it.
addEventListener('pagehide', () => shareKey(''))

/** @param {string} key */
function shareKey(key) {
  for (const field of document.querySelectorAll('.try input[name="key"]')) {
    if (field instanceof HTMLInputElement) field.value = key
  }
}

/**
 * The form of an operation, from the data attributes of its section.
 * @param {HTMLElement} section
 * @param {HTMLDialogElement} dialog
 */
function tryIt(section, dialog) {
  const { method = '', path = '', scope, body } = section.dataset
  const isErasure = method === 'DELETE' || scope === 'analytics:delete-data'
  const fields = Array.from(section.querySelectorAll('dt[data-in]'), (term) => parameterField(section, term))
  const key = scope === undefined ? null : keyField(section)
  const bodyInput = body === undefined ? null : bodyField(section, body)
  const answer = element('div', { ariaLive: 'polite', className: 'sent' })
  const button = element('button', { type: 'submit' }, 'Send request')
  const inputs = [key?.label, ...fields.map(({ label }) => label), bodyInput?.label]
  const form = element(
    'form',
    { autocomplete: 'off' },
    ...inputs.filter((each) => each !== undefined),
    button,
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const given = fields.filter(({ input }) => input.value !== '')
    if (isErasure && !(await isConfirmed(dialog, given))) return
    button.disabled = true
    answer.replaceChildren()
    answer.append(
      ...(await send(targetOf(path, given), {
        method,
        headers: {
          ...(key && { Authorization: `Bearer ${key.input.value.trim()}` }),
          ...(bodyInput && { 'Content-Type': 'application/json' }),
        },
        ...(bodyInput && { body: bodyInput.input.value }),
      })),
    )
    button.disabled = false
  })
  const summary = element('summary', {}, 'Try it')
  return element('details', { className: 'try' }, summary, form, answer)
}

/**
 * @typedef {{ name: string, place: string, input: HTMLInputElement, label: HTMLLabelElement }} Field
 */

/**
 * @param {HTMLElement} section
 * @param {Element} term
 * @returns {Field}
 */
function parameterField(section, term) {
  const { in: place = '', example = '', required } = term instanceof HTMLElement ? term.dataset : {}
  const name = term.querySelector('code')?.textContent ?? ''
  const input = element('input', {
    ...{ id: `try.${section.id}.${name}`, type: 'text', spellcheck: false, autocomplete: 'off' },
    ...{ required: required !== undefined, placeholder: example && `such as ${example}` },
  })
  input.addEventListener('input', () => {
    // A URL parser would treat these as folders.
    const isFolder = place === 'path' && /^\.\.?$/.test(input.value)
    input.setCustomValidity(isFolder ? 'An ID cannot be “.” or “..”.' : '')
  })
  const hint = required === undefined ? element('small', {}, 'optional') : null
  return { name, place, input, label: labelled(input, element('code', {}, name), hint) }
}

/** @param {HTMLElement} section */
function keyField(section) {
  const input = element('input', {
    ...{ id: `try.${section.id}.key`, name: 'key', type: 'password', autocomplete: 'off', required: true },
  })
  input.addEventListener('input', () => shareKey(input.value))
  const hint = element('small', {}, 'kept only until you leave or reload this page')
  return { input, label: labelled(input, 'API key', hint) }
}

/**
 * @param {HTMLElement} section
 * @param {string} example
 */
function bodyField(section, example) {
  const input = element('textarea', { id: `try.${section.id}.body`, rows: 6, spellcheck: false })
  input.value = JSON.stringify(JSON.parse(example), null, 2)
  return { input, label: labelled(input, 'Body', element('small', {}, 'JSON')) }
}

/**
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {string | HTMLElement} name
 * @param {HTMLElement | null} hint
 */
function labelled(input, name, hint) {
  const caption = element('span', {}, name, ...(hint ? [' ', hint] : []))
  return element('label', { htmlFor: input.id }, caption, input)
}

/**
 * @param {string} path
 * @param {Field[]} given
 */
function targetOf(path, given) {
  const idFor = (/** @type {string} */ name) =>
    given.find((field) => field.place === 'path' && field.name === name)?.input.value ?? ''
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(idFor(name)))
  const query = given
    .filter(({ place }) => place === 'query')
    .map(({ name, input }) => `${name}=${encodeURIComponent(input.value)}`)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/**
 * Sends a request without the console's cookie, and returns the elements that show the response.
 * @param {string} target
 * @param {RequestInit} request
 */
async function send(target, request) {
  try {
    const response = await fetch(target, {
      ...request,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    })
    const { text, isCut } = await beginningOf(response)
    const status = element(
      'span',
      { className: `status s${String(response.status)[0]}` },
      String(response.status),
    )
    const note = isCut ? 'The response is long, so only its beginning is shown.' : response.statusText
    const pre = element(
      'pre',
      { tabIndex: 0, role: 'group', ariaLabel: 'Response' },
      element('code', {}, pretty(text)),
    )
    const block = element('figure', { className: 'code' }, element('figcaption', {}, 'Response'), pre)
    return [element('p', {}, status, ' ', note), block]
  } catch {
    return [
      element('p', {}, 'The service could not be reached. Check your connection and send the request again.'),
    ]
  }
}

/** @param {Response} response */
async function beginningOf(response) {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) return { text: text + decoder.decode(), isCut: false }
    text += decoder.decode(value, { stream: true })
    bytes += value?.length ?? 0
    if (bytes < maxShownBytes) continue
    await reader?.cancel()
    return { text: text.slice(0, maxShownBytes), isCut: true }
  }
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function makeDialog() {
  const title = element('h2', { id: 'try.title' }, 'Erase this data for good?')
  const cancel = element('button', { value: '', autofocus: true }, 'Cancel')
  const erase = element('button', { value: 'erase', className: 'danger' }, 'Erase for good')
  const form = element(
    'form',
    { method: 'dialog' },
    title,
    element('p', {}),
    element('div', {}, cancel, erase),
  )
  const dialog = element('dialog', { className: 'confirm' }, form)
  dialog.setAttribute('aria-labelledby', title.id)
  return dialog
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {Field[]} given
 * @returns {Promise<boolean>}
 */
function isConfirmed(dialog, given) {
  const whose = given.map(({ name, input }) => `${name} ${input.value}`).join(', ')
  const text = `This deletes all data stored for ${whose}. It cannot be undone.`
  dialog.querySelector('p')?.replaceChildren(text)
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'erase'), { once: true })
  })
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {...(string | Node)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}
