import './style/index.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { startTexts } from './texts/index.ts'

const root = document.getElementById('root')
if (root) {
  await startTexts()
  createRoot(root).render(<App />)
}
