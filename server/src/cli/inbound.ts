import { findCampaignSubscriptions } from '../modules/campaigns/index.ts'
import { receiveMailReport } from '../modules/messages/index.ts'
import { type Command, CommandError, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'
import { withCtx } from './with-ctx.ts'

const BYTES_MAX = 31_457_280
/** EX_TEMPFAIL of sendmail: the mail server tries again later. */
const TRY_AGAIN = 75

/** Reads an email from standard input, as mail servers write it to a program. Exits with 75 if the mail server should deliver it again. */
export const run: Command['run'] = async (args, env) => {
  const recipients = readArguments(args, OPTIONS.none, Number.POSITIVE_INFINITY).operands
  const content = await readInput()
  try {
    await withCtx(env, async (ctx) => {
      const outcome = await receiveMailReport(ctx, findCampaignSubscriptions, { recipients, content })
      process.stdout.write(`${outcome}\n`)
    })
  } catch (error) {
    process.exitCode = TRY_AGAIN
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  }
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length
    if (bytes > BYTES_MAX) throw new CommandError('The email is larger than 30 MiB.')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
