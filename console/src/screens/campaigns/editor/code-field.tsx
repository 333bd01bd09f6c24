import { type ComponentProps, Suspense } from 'react'
import { lazyPart } from '../../../parts/lazy-part.ts'
import { Loading } from '../../../parts/loading.tsx'

const CodeEditor = lazyPart(() => import('./code-editor.tsx'), 'CodeEditor')

/** The code editor. Its JavaScript is loaded when the first such field is shown. */
export const CodeField = (props: ComponentProps<typeof CodeEditor>) => (
  <Suspense fallback={<Loading />}>
    <CodeEditor {...props} />
  </Suspense>
)
