import '../shared/tokens.css'
import '../shared/base.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/pages.css'
import './styles/activity.css'
import './styles/batches.css'
import './styles/settings.css'
import './styles/charts.css'
import './styles/find.css'
import './styles/subject.css'
import './styles/certificate.css'
import './styles/print.css'
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (root) render(<App />, root)
