import type { z } from 'zod'
import type { Ticket } from '../domain/execution.ts'
import type { JsonObject } from '../domain/json.ts'
import { listProcedures } from '../operations/list-procedures.ts'
import { resolveTicket } from '../operations/resolve-ticket.ts'
import { searchProcedures } from '../operations/search-procedures.ts'
import type { Answer, Command, Given, Parameter } from './command.ts'
import { operationCommand } from './command.ts'
import { goOnLines } from './go-on.ts'
import { labelled } from './labels.ts'
import { carryOnLeft } from './left-runs.ts'
import { readObject, readText } from './read-text.ts'
import { replyScreen } from './reply-screen.ts'
import { endScreen, liveSteps } from './run-screen.ts'
import { selectionScreen } from './selection-screen.ts'
import type { Shell } from './shell.ts'

type Resolution = z.infer<typeof resolveTicket.output>

/** The options of a run that is started. */
export const startOptions: readonly Parameter[] = [
  {
    usage: '--input <JSON>',
    text: "the procedure's input as a JSON object, or @FILE; what is left out is looked for in the ticket",
  },
  {
    usage: '--context <JSON>',
    text: 'what else is known of the case, as --input is given; input is looked for in it by name, before the ticket',
  },
  {
    usage: '--language <TAG>',
    text: 'the language of the ticket, such as de; a model writes English alone, so it is not asked for others',
  },
  { usage: '--customer <ID>', text: "the customer's id" },
  {
    usage: '--idempotency-key <KEY>',
    text: 'the same key and request give the same execution, and start nothing again',
  },
  { usage: '--guided', text: 'ask an agent before each write' },
]

const search = operationCommand({
  path: 'search',
  operation: searchProcedures,
  arguments: [{ usage: '<TEXT...>', text: "the customer's words" }],
  options: [
    { usage: '--category <NAME>', text: 'only procedures of this category' },
    { usage: '--top <N>', text: 'how many candidates to show, 1 to 20 (default 3)' },
  ],
  input: (given) => ({
    issue: given.text('TEXT'),
    category: given.find('category'),
    topK: given.number('top'),
  }),
  screen: (selection, terminal) => selectionScreen(terminal, selection),
})

const resolve: Command = {
  path: 'resolve',
  summary: resolveTicket.summary,
  arguments: [
    { usage: '<TEXT...>', text: "the customer's message; - reads it from standard input" },
  ],
  options: [
    { usage: '--procedure <KEY>', text: 'run this playbook, whatever the search would find' },
    ...startOptions,
  ],
  notes: [
    'The exit code is 0 whenever the ticket was dealt with, escalations included; execution.status and',
    'selection.decision of --json say how. For example:',
    '',
    '  stepwarden resolve "Checkout failed but my card was charged for TXN-DEMO-001" --json',
  ].join('\n'),
  async run(shell, given) {
    const words = given.text('TEXT')
    const text = words === '-' ? (await readText('-')).trim() : words
    await carryOnLeft(shell)
    return resolveText(
      shell,
      { text, language: given.find('language') },
      { procedureKey: given.find('procedure'), ...(await startInput(shell, given)) },
    )
  },
}

export const ticketCommands: readonly Command[] = [resolve, search]

/** What the options of a start become, the language apart: it belongs to the ticket. */
export async function startInput(shell: Shell, given: Given): Promise<StartInput> {
  return {
    input: await readObject(shell, '--input', given.find('input')),
    context: await readObject(shell, '--context', given.find('context')),
    customerId: given.find('customer'),
    idempotencyKey: given.find('idempotency-key'),
    mode: given.has('guided') ? 'guided' : undefined,
  }
}

interface StartInput {
  readonly input?: JsonObject | undefined
  readonly context?: JsonObject | undefined
  readonly customerId?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly mode?: 'guided' | undefined
}

interface ResolveOptions extends StartInput {
  readonly procedureKey?: string | undefined
}

type ResolveAnswer = Answer & { readonly output: Resolution }
type TypedTicket = Pick<Ticket, 'text'> & { readonly language?: string | undefined }

/** Resolves a ticket and shows it as it goes: the candidates, then what `runTicket` shows. */
export async function resolveText(
  shell: Shell,
  ticket: TypedTicket,
  options: ResolveOptions = {},
): Promise<ResolveAnswer> {
  const { terminal } = shell
  if (!terminal.json) {
    // People see the candidates before the run; the operation searches again, and its answer is what holds.
    const { context } = options
    const selection = await shell.call(searchProcedures, { issue: ticket.text, context })
    terminal.print(labelled(terminal, 'Ticket', ticket.text))
    terminal.print(selectionScreen(terminal, selection))
  }
  return runTicket(shell, ticket, options)
}

/** Resolves a ticket, showing each step when it is committed; the end and the reply are left for the answer's screen. */
export async function runTicket(
  shell: Shell,
  ticket: TypedTicket,
  options: ResolveOptions,
): Promise<ResolveAnswer> {
  const { terminal } = shell
  const request = { ...options, ticket }
  const output = await shell.call(resolveTicket, request, liveSteps(terminal))
  await hintWhenEmpty(shell, output)
  return { output, screen: resolutionScreen(shell, output) }
}

function resolutionScreen({ terminal, isSession }: Shell, output: Resolution): string {
  const { execution, steps, reply, triageId, triageReason } = output
  if (execution !== null) {
    const how = isSession ? undefined : `resolve "…" --procedure ${execution.procedureKey}`
    return [
      endScreen(terminal, { execution, steps, reply }),
      ...goOnLines(terminal, execution, how),
    ].join('\n')
  }
  if (triageId === null) {
    const how = isSession
      ? 'Type the message without a command to choose one.'
      : 'Choose one with --procedure KEY.'
    return terminal.style('quiet', how)
  }
  return [
    labelled(terminal, 'Triage', `opened for a person: ${triageId}`),
    ...(triageReason === null || triageReason.code === 'no_procedure'
      ? []
      : [labelled(terminal, 'Reason', `${triageReason.message} (${triageReason.code})`)]),
    ...(reply === null ? [] : [replyScreen(terminal, reply)]),
  ].join('\n')
}

/** An empty folder matches nothing, and its owner may not know why. */
async function hintWhenEmpty(shell: Shell, { selection }: Resolution): Promise<void> {
  if (selection.candidates.length > 0) return
  const { items } = await shell.call(listProcedures, { limit: 200 })
  if (items.some((item) => item.activeVersionNumber !== null)) return
  shell.terminal.notice(
    "No playbook is active here, so none can fit. 'stepwarden procedures seed' loads those of the demo.",
  )
}
