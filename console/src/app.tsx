import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { nonce } from './nonce.ts'
import { router } from './router.ts'
import { queryClient } from './session/query-client.ts'
import { cssVariablesResolver, theme } from './style/theme.ts'

/** The console. */
export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Notifications position="bottom-right" autoClose={10_000} limit={3} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
