import './style/index.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { watchInput } from './session/asking.ts'
import { dropUnownedCopies } from './session/keep.ts'
import { startTexts } from './texts/index.ts'

const root = document.getElementById('root')
if (root) {
  watchInput(window)
  dropUnownedCopies()
  await startTexts()
  createRoot(root).render(<App />)
}
