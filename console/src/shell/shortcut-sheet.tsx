import { Modal, Switch } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { SessionProject } from '../session/api.ts'
import { setSingleKeys, useSingleKeys } from './single-keys.ts'
import { useNav } from './use-nav.ts'

/** The shortcuts, and the switch that turns single keys off. */
export function ShortcutSheet({ project, isOpen, onClose }: { project: SessionProject; isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const { groups } = useNav(project)
  const isOn = useSingleKeys()
  const items = groups.flatMap((group) => group.items).filter(({ key }) => key !== undefined)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('shortcuts.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <dl className="keys">
        <Keys name={t('palette.open')} keys={[t('key.command'), 'K']} />
        <Keys name={t('shortcuts.save')} keys={[t('key.command'), 'S']} />
        <Keys name={t('shortcuts.open')} keys={['?']} />
        <Keys name={t('shortcuts.close')} keys={['Esc']} />
        <Keys name={t('shortcuts.rows')} keys={['j', 'k']} />
        <Keys name={t('shortcuts.search')} keys={['/']} />
        <Keys name={t('shortcuts.edit')} keys={['e']} />
        {items.map((item) => (
          <Keys key={item.id} name={t(`nav.${item.id}`)} keys={['g', item.key ?? '']} />
        ))}
      </dl>
      <Switch
        mt="md"
        label={t('shortcuts.single')}
        description={t('shortcuts.singleAbout')}
        checked={isOn}
        onChange={(event) => setSingleKeys(event.currentTarget.checked)}
      />
    </Modal>
  )
}

function Keys({ name, keys }: { name: string; keys: string[] }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dd>
    </div>
  )
}
