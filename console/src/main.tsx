import '../shared/tokens.css'
import '../shared/base.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/components.css'
import './styles/pages.css'
import './styles/charts.css'
import './styles/search.css'
import './styles/subject.css'
import './styles/certificate.css'
import './styles/variables.css'
import './styles/replies.css'
import './styles/report.css'
import './styles/print.css'
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (root) render(<App />, root)
