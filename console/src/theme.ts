// Runs before anything is drawn, so that a page never flashes in the other colours.
const chosen = localStorage.getItem('lethe-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
