import { ActionIcon, Button, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Card } from '../../../parts/page.tsx'
import type { Draft } from '../draft.ts'
import { letterOf } from '../variants.ts'
import type { StepProps } from './step.ts'

type Variants = NonNullable<Draft['variants']>
type Winner = NonNullable<Draft['winner']>

const VARIANTS_MAX = 26
const WINNER_FIRST: Winner = { metric: 'clicks', test_percent: 20, after_minutes: 120 }
/** Opens and clicks are not tracked there. */
const UNTRACKED: readonly string[] = ['text', 'webhook']

/** An A/B test: the variants of the content, who gets which, and how the winner is found. */
export function VariantsCard({ campaign: { channel }, autosave: { draft, change } }: StepProps) {
  const { t } = useTranslation('campaigns')
  const { variants = [], winner = null } = draft
  const named = (index: number) => t('variants.named', { letter: letterOf(index) })
  const write = (variants: Variants) => change({ ...draft, variants, ...(variants.length === 0 && { winner: null }) })
  const toggle = (isTest: boolean) => write(isTest ? [0, 1].map((index) => ({ name: named(index), weight: 1 })) : [])
  const isChoosable = !UNTRACKED.includes(channel) && !draft.send_in_user_timezone
  return (
    <Card title={t('variants.heading')}>
      <div className="form pad narrow">
        <Switch
          label={t('variants.has')}
          description={t('variants.about')}
          checked={variants.length > 0}
          onChange={(event) => toggle(event.currentTarget.checked)}
        />
        {variants.map((variant, index) => (
          <VariantFields
            // biome-ignore lint/suspicious/noArrayIndexKey: a variant is its place: the first is A.
            key={index}
            letter={letterOf(index)}
            variant={variant}
            onChange={(changed) => write(variants.with(index, changed))}
            onRemove={index > 1 && index === variants.length - 1 ? () => write(variants.slice(0, -1)) : undefined}
          />
        ))}
        {variants.length > 0 && variants.length < VARIANTS_MAX && (
          <div className="acts">
            <Button variant="default" size="xs" onClick={() => write([...variants, { name: named(variants.length), weight: 1 }])}>
              {t('variants.add')}
            </Button>
          </div>
        )}
        {variants.length > 0 && (isChoosable || winner) && (
          <WinnerFields winner={winner} onChange={(winner) => change({ ...draft, winner })} />
        )}
        {variants.length > 0 && !isChoosable && <p className="sm quiet">{t('variants.noWinner')}</p>}
      </div>
    </Card>
  )
}

type VariantProps = {
  letter: string
  variant: Variants[number]
  onChange: (variant: Variants[number]) => void
  onRemove: (() => void) | undefined
}

function VariantFields({ letter, variant, onChange, onRemove }: VariantProps) {
  const { t } = useTranslation('campaigns')
  return (
    <div className="variant">
      <TextInput
        label={t('variants.name', { letter })}
        required
        maxLength={255}
        value={variant.name}
        onChange={(event) => event.currentTarget.value !== '' && onChange({ ...variant, name: event.currentTarget.value })}
      />
      <NumberInput
        label={t('variants.weight', { letter })}
        min={1}
        max={1000}
        allowDecimal={false}
        value={variant.weight}
        onChange={(weight) => typeof weight === 'number' && weight > 0 && onChange({ ...variant, weight })}
      />
      {onRemove && (
        <ActionIcon variant="default" size={36} aria-label={t('variants.remove', { letter })} onClick={onRemove}>
          <IconTrash size={16} stroke={1.5} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}

function WinnerFields({ winner, onChange }: { winner: Winner | null; onChange: (winner: Winner | null) => void }) {
  const { t } = useTranslation('campaigns')
  const number = (name: 'test_percent' | 'after_minutes') => (value: string | number) =>
    winner && typeof value === 'number' && value > 0 && onChange({ ...winner, [name]: value })
  return (
    <>
      <Switch
        label={t('variants.winner')}
        description={t('variants.winnerAbout')}
        checked={winner !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? WINNER_FIRST : null)}
      />
      {winner && (
        <>
          <Select
            label={t('variants.metric')}
            data={(['clicks', 'opens'] as const).map((value) => ({ value, label: t(`variants.by.${value}`) }))}
            value={winner.metric}
            allowDeselect={false}
            onChange={(metric) => metric && onChange({ ...winner, metric: metric as Winner['metric'] })}
          />
          <div className="two">
            <NumberInput
              label={t('variants.percent')}
              min={1}
              max={100}
              allowDecimal={false}
              value={winner.test_percent}
              onChange={number('test_percent')}
            />
            <NumberInput
              label={t('variants.after')}
              min={1}
              max={43_200}
              allowDecimal={false}
              value={winner.after_minutes}
              onChange={number('after_minutes')}
            />
          </div>
        </>
      )}
    </>
  )
}
