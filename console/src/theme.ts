// Runs before the first paint, so that a page never flashes in the wrong theme.
const chosen = localStorage.getItem('lethe-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
