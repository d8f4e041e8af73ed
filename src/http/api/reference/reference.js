// Conveniences only: the page can be read without them.

// Applies the theme chosen in the console before the first paint.
const chosen = localStorage.getItem('lethe-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen

addEventListener('DOMContentLoaded', () => {
  for (const place of document.querySelectorAll('.origin')) place.textContent = location.origin
  for (const block of document.querySelectorAll('.code')) offerCopy(block)
  followContents()
})

/** @param {Element} block */
function offerCopy(block) {
  // Browsers offer the clipboard to secure pages only.
  if (!navigator.clipboard) return
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('pre')?.textContent ?? '')
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1_500)
  })
  block.querySelector('figcaption')?.append(button)
}

/** Marks the current section in the contents, and collapses them after a click. */
function followContents() {
  const contents = document.querySelector('.contents')
  const links = new Map(
    Array.from(document.querySelectorAll('.contents a'), (link) => [
      link.getAttribute('href')?.slice(1),
      link,
    ]),
  )
  contents?.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) contents.removeAttribute('open')
  })
  const observer = new IntersectionObserver(
    (entries) => {
      // If a group and its operation come into view together, the operation counts.
      const here = entries.findLast(({ isIntersecting }) => isIntersecting)?.target.id
      if (here === undefined) return
      for (const [id, link] of links) {
        if (id === here) link.setAttribute('aria-current', 'true')
        else link.removeAttribute('aria-current')
      }
    },
    { rootMargin: '-10% 0px -75% 0px' },
  )
  for (const section of document.querySelectorAll('section'))
    if (links.has(section.id)) observer.observe(section)
}
