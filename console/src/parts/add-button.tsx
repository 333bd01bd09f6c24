import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** The button of a list that adds to it. */
export const AddButton = ({ children, onClick }: { children: ReactNode; onClick: () => void }) => (
  <Button leftSection={<IconPlus size={16} stroke={1.5} aria-hidden />} onClick={onClick}>
    {children}
  </Button>
)
