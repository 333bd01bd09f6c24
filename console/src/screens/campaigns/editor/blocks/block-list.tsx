import { ActionIcon, Button, Menu, Textarea, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconCopy, IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Block, Leaf } from './document.ts'
import type { Command, ListPlace } from './edit.ts'
import { KINDS, type KindName, kindOf } from './kinds.ts'

type Props = { blocks: Block[]; place: ListPlace; onCommand: (command: Command) => void }

/** The blocks of an email or of one of its columns, in their order, and the button that adds another. */
export function BlockList({ blocks, place, onCommand }: Props) {
  const { t } = useTranslation('campaigns')
  const kinds: Block['is'][] = [...(Object.keys(KINDS) as KindName[]), ...(place ? [] : (['columns'] as const))]
  const where = place ? t('blocks.inColumn', { number: place.index + 1 }) : ''
  return (
    <>
      {blocks.length === 0 && <p className="sm quiet">{t('blocks.none')}</p>}
      <ol className="blocklist">
        {blocks.map((block, index) => (
          <li key={block.id} data-block={block.id} tabIndex={-1}>
            <Bar block={block} index={index} count={blocks.length} where={where} onCommand={onCommand} />
            {block.is === 'columns' ? (
              <div className="two">
                {block.columns.map((column, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their places.
                  <div key={index} className="stack">
                    <BlockList blocks={column} place={{ columns: block.id, index }} onCommand={onCommand} />
                  </div>
                ))}
              </div>
            ) : (
              <BlockFields block={block} onCommand={onCommand} />
            )}
          </li>
        ))}
      </ol>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button variant="default" size="xs" leftSection={<IconPlus size={14} aria-hidden />}>
            {place ? t('blocks.addInColumn', { number: place.index + 1 }) : t('blocks.add')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {kinds.map((is) => (
            <Menu.Item key={is} onClick={() => onCommand({ do: 'add', is, to: place })}>
              {t(`blocks.kinds.${is}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

type BarProps = { block: Block; index: number; count: number; where: string; onCommand: Props['onCommand'] }

/** What a block is, and what can be done to it. */
function Bar({ block: { id, is }, index, count, where, onCommand }: BarProps) {
  const { t } = useTranslation('campaigns')
  const kind = t(`blocks.kinds.${is}`)
  const block = [kind, index + 1, where].filter(Boolean).join(' ')
  const acts = [
    { name: 'up', Icon: IconChevronUp, isOff: index === 0, command: { do: 'move', id, by: -1 } },
    { name: 'down', Icon: IconChevronDown, isOff: index === count - 1, command: { do: 'move', id, by: 1 } },
    { name: 'copy', Icon: IconCopy, isOff: false, command: { do: 'copy', id } },
    { name: 'remove', Icon: IconTrash, isOff: false, command: { do: 'remove', id } },
  ] as const
  return (
    <div className="blockbar">
      <b className="sm">{kind}</b>
      {acts.map(({ name, Icon, isOff, command }) => (
        <ActionIcon
          key={name}
          variant="subtle"
          color="gray"
          data-do={name}
          disabled={isOff}
          aria-label={t(`blocks.${name}`, { block })}
          onClick={() => onCommand(command)}
        >
          <Icon size={16} stroke={1.5} aria-hidden />
        </ActionIcon>
      ))}
    </div>
  )
}

const LINE_MAX = 2048
const TEXT_MAX = 20_000

function BlockFields({ block: { id, is, values }, onCommand }: { block: Leaf; onCommand: Props['onCommand'] }) {
  const { t } = useTranslation('campaigns')
  return Object.entries(kindOf(is).fields).map(([field, encoding]) => {
    const isLong = encoding === 'text' || encoding === 'html'
    const given = {
      label: t(`blocks.fields.${field}`),
      value: values[field] ?? '',
      dir: encoding === 'html' ? 'ltr' : 'auto',
      onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => onCommand({ do: 'write', id, field, value }),
    }
    return isLong ? (
      <Textarea
        key={field}
        {...given}
        autosize
        minRows={encoding === 'html' ? 4 : 1}
        maxRows={16}
        maxLength={TEXT_MAX}
        description={t(`blocks.about.${encoding}`)}
      />
    ) : (
      <TextInput key={field} {...given} maxLength={LINE_MAX} inputMode={encoding === 'pixels' ? 'numeric' : 'text'} />
    )
  })
}
