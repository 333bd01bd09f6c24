import type { FieldsProps } from './channels/channel.ts'
import { channels } from './channels/index.ts'
import { Editable } from './editable.tsx'
import { MoreFields } from './more-fields.tsx'

/** The fields of a template, by its channel. */
export function Fields(props: FieldsProps) {
  const { Fields: ChannelFields } = channels[props.campaign.channel]
  return (
    <>
      <ChannelFields {...props} />
      <Editable isReadOnly={props.isReadOnly}>
        <div className="form pad">
          <MoreFields campaign={props.campaign} template={props.template} onChange={props.onChange} />
        </div>
      </Editable>
    </>
  )
}
