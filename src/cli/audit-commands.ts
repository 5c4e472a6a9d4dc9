import { newCheckpointKey } from '../config/new-checkpoint-key.ts'
import { type EvidenceVerdict, EvidenceVerifier } from '../domain/verify-evidence.ts'
import { bundleExecution } from '../operations/bundle-execution.ts'
import { listAuditEvents } from '../operations/list-audit-events.ts'
import { makeCheckpoint } from '../operations/make-checkpoint.ts'
import { sealExecutions } from '../operations/seal-executions.ts'
import { verifyAudit } from '../operations/verify-audit.ts'
import { exportCommand } from './audit-export.ts'
import {
  type Answer,
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  pageInput,
  pageOptions,
} from './command.ts'
import { actorText, detailsText, entityText, eventScreen } from './event-screen.ts'
import {
  type CheckpointFile,
  readCheckpointFile,
  readEvidenceFile,
  readPublicKeyFiles,
} from './evidence-file.ts'
import { exitCodes, usageError } from './failures.ts'
import { progress } from './progress.ts'
import type { Shell } from './shell.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'
import { writeFileWhole } from './write-file.ts'

const list = operationCommand({
  path: 'audit list',
  operation: listAuditEvents,
  options: [
    { usage: '--from <TIME>', text: 'at or after, as 2026-11-30T12:00:00Z' },
    { usage: '--to <TIME>', text: 'before' },
    { usage: '--action <ACTION>', text: 'only this action: version.activated' },
    { usage: '--principal <ID>', text: 'only acts of this principal' },
    { usage: '--procedure <KEY>', text: 'only acts on this procedure' },
    { usage: '--entity <ID>', text: 'only acts on what has this id' },
    ...pageOptions,
  ],
  input: (given) => ({
    ...pageInput(given),
    from: given.find('from'),
    to: given.find('to'),
    action: given.find('action'),
    principal: given.find('principal'),
    procedureKey: given.find('procedure'),
    entityId: given.find('entity'),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['EVENT', 'TIME', 'WHO', 'ACTION', 'WHAT', 'DETAILS'],
      items.map((item) => [
        String(item.seq),
        instantText(item.at) ?? '',
        actorText(item),
        item.ungoverned ? `${item.action} (ungoverned)` : item.action,
        entityText(item),
        detailsText(item),
      ]),
      'No events.',
    ) + nextPageLine(terminal, nextCursor),
})

const show: Command = {
  path: 'audit show',
  summary: 'Show one event of the audit log, whole',
  arguments: [{ usage: '<EVENT>', text: "the number of an event, as 'audit list' shows it" }],
  async run(shell, given) {
    const seq = given.number('EVENT') ?? 0
    const page = { cursor: String(seq + 1), limit: 1 }
    const [event] = (await shell.call(listAuditEvents, page)).items
    if (event?.seq !== seq) {
      throw usageError(
        `There is no event ${seq}.`,
        "'stepwarden audit list' shows those there are.",
      )
    }
    return { output: event, screen: eventScreen(shell.terminal, event) }
  },
}

const verify: Command = {
  path: 'audit verify',
  summary: verifyAudit.summary,
  options: [
    {
      usage: '--from <FILE>',
      text: 'verify an export of evidence or a bundle instead: no database and no settings are needed',
    },
    { usage: '--checkpoints <FILE>', text: 'signed ends that were kept elsewhere, as JSON lines' },
    {
      usage: '--public-key <FILE...>',
      text: 'public keys of checkpoints in PEM, besides that of this service',
    },
    { usage: '--replay', text: 'make the decisions of every run again as well; not with --from' },
  ],
  notes: `It reads everything from the first event on and changes nothing. The exit code is 0 when all of it fits, else 7; the
what does not fit is named by table and id. What it cannot prove is said as well: without a signed checkpoint,
above all, that the whole was not rewritten.`,
  async run(shell, given) {
    const file = given.find('checkpoints')
    const { checkpoints, badLines } =
      file === undefined ? noCheckpoints : await readCheckpointFile(file)
    const left = badLines.length === 0 ? [] : [leftOut(String(file), badLines)]
    const { pem, keys } = await readPublicKeyFiles(given.list('public-key'))
    const from = given.find('from')
    if (from === undefined) {
      const input = { publicKeys: pem, checkpoints: [...checkpoints], replay: given.has('replay') }
      const output = await shell.call(verifyAudit, input, undefined, progress(shell))
      return verdictAnswer(shell.terminal, { ...output, limits: [...left, ...output.limits] })
    }
    if (given.has('replay')) {
      throw usageError('--replay needs the database.', 'Leave it out, or leave --from out.')
    }
    const verdict = await verifyFile(from, new EvidenceVerifier(keys, checkpoints))
    return verdictAnswer(shell.terminal, { ...verdict, limits: [...left, ...verdict.limits] })
  },
}

const noCheckpoints: CheckpointFile = { checkpoints: [], badLines: [] }

function leftOut(file: string, lines: readonly number[]): string {
  const shown = lines.slice(0, 10).join(', ')
  const more = lines.length > 10 ? ` and ${lines.length - 10} more` : ''
  return `${file} has no checkpoint in line ${shown}${more}, which was left out: what it was to prove is not proved.`
}

async function verifyFile(file: string, verifier: EvidenceVerifier): Promise<EvidenceVerdict> {
  let events = 0
  for await (const line of readEvidenceFile(file)) {
    if (line.kind === 'event') events += 1
    verifier.take(line)
  }
  if (events === 0) {
    // Whoever exports it writes an event of that, so there is one in every file that the service has made.
    const problem = 'There is no event in it, so it proves nothing.'
    verifier.addProblem({ table: 'evidence', id: 'event', problem })
  }
  return verifier.finish()
}

function verdictAnswer(
  terminal: Terminal,
  verdict: EvidenceVerdict & { readonly replayed?: number },
): Answer {
  return {
    output: verdict,
    screen: verdictScreen(terminal, verdict),
    exitCode: exitCodes[verdict.ok ? 'done' : 'disagrees'][0],
  }
}

function verdictScreen(
  terminal: Terminal,
  verdict: EvidenceVerdict & { readonly replayed?: number },
): string {
  const { ok, problems, problemCount, counts, provedUpTo, limits, replayed } = verdict
  const untold = problemCount - problems.length
  const fits =
    provedUpTo === null
      ? 'All of it fits together; nothing proves where it comes from.'
      : 'All of it fits.'
  return [
    ok
      ? terminal.style(provedUpTo === null ? 'care' : 'good', fits)
      : terminal.style(
          'bad',
          `${countText(problemCount, 'thing')} that ${problemCount === 1 ? 'does' : 'do'} not fit:`,
        ),
    ...problems.map(({ table: name, id, problem }) =>
      terminal.style('bad', `  ${terminal.wrap(`${name} ${id}: ${problem}`, 2)}`),
    ),
    ...(untold === 0 ? [] : [terminal.style('bad', `  and ${untold} more`)]),
    fields(terminal, [
      ['Events', String(counts.events)],
      ['Rows', `${counts.rows} of versions, contracts, reviews and times of service`],
      ['Runs', `${countText(counts.records, 'record')} in ${countText(counts.seals, 'seal')}`],
      ['Erased', counts.erased === 0 ? null : String(counts.erased)],
      ['Replayed', replayed === undefined || replayed === 0 ? null : String(replayed)],
      ['Checkpoints', String(counts.checkpoints)],
      ['Proved', provedUpTo === null ? null : `up to event ${provedUpTo}`],
    ]),
    ...limits.map((text) => terminal.style('care', terminal.wrap(text, 0))),
  ].join('\n')
}

const seal: Command = {
  path: 'audit seal',
  summary: sealExecutions.summary,
  notes: 'Workers do this by themselves every few seconds, for runs whose reply is written.',
  async run(shell) {
    const output = await shell.call(sealExecutions, {}, undefined, progress(shell))
    const done = `${countText(output.records, 'record')} in ${countText(output.seals, 'new seal')}.`
    return {
      output,
      screen: output.isBusy ? `${done} Another process is sealing; look again in a moment.` : done,
    }
  },
}

const checkpoint = operationCommand({
  path: 'audit checkpoint',
  operation: makeCheckpoint,
  notes:
    'Keep what --json prints, or the checkpoint file, where nobody can write who can write the database.',
  input: () => ({}),
  screen: ({ checkpoint: made }) =>
    made === null
      ? 'The audit log has no event yet.'
      : `Event ${made.seq} is signed by key ${made.keyId}.`,
})

const keygen: Command = {
  path: 'audit keygen',
  summary: 'Make a key that signs checkpoints, and print both halves of it',
  notes: `It stores nothing. Give the private line to the service as STEPWARDEN_CHECKPOINT_KEY, and the public key to whoever
verifies. A service with a new key signs with that from then on; keep the old public key for what it has signed.`,
  async run() {
    const output = newCheckpointKey()
    const { privateKey, publicKey, keyId } = output
    return {
      output,
      screen: [
        `Key ${keyId}`,
        '',
        'Private, for the environment of the service and nowhere else:',
        `STEPWARDEN_CHECKPOINT_KEY=${privateKey}`,
        '',
        'Public, for whoever verifies:',
        publicKey.trimEnd(),
      ].join('\n'),
    }
  },
}

const bundle: Command = {
  path: 'audit bundle',
  summary: bundleExecution.summary,
  arguments: [{ usage: '<ID>', text: 'the id of an execution, exec_…' }],
  options: [{ usage: '-o, --output <FILE>', text: 'where to write it (default: standard output)' }],
  notes: "Whoever has it verifies it by 'stepwarden audit verify --from FILE --public-key FILE'.",
  async run(shell, given) {
    const id = given.text('ID')
    const { lines } = await shell.call(bundleExecution, { executionId: id })
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return writeOrPrint(shell, given, text, { executionId: id, lines: lines.length })
  },
}

async function writeOrPrint(
  shell: Shell,
  given: Given,
  text: string,
  output: { readonly executionId: string; readonly lines: number },
): Promise<Answer> {
  const file = given.find('output')
  if (file === undefined) {
    await shell.terminal.printStream(text)
    return { output: undefined, screen: '', isShown: true }
  }
  await writeFileWhole(file, [text])
  return { output: { ...output, file }, screen: `${file} proves ${output.executionId}.` }
}

export const auditCommands: readonly Command[] = [
  list,
  show,
  verify,
  seal,
  checkpoint,
  keygen,
  bundle,
  exportCommand,
]
