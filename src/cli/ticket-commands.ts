import type { z } from 'zod'
import { listProcedures } from '../operations/list-procedures.ts'
import { resolveTicket } from '../operations/resolve-ticket.ts'
import { searchProcedures } from '../operations/search-procedures.ts'
import type { Answer, Command, Parameter } from './command.ts'
import { operationCommand } from './command.ts'
import { labelled } from './labels.ts'
import { readObject, readText } from './read-text.ts'
import { replyScreen } from './reply-screen.ts'
import { endScreen, liveSteps } from './run-screen.ts'
import { selectionScreen } from './selection-screen.ts'
import type { Shell } from './shell.ts'
import type { Terminal } from './terminal.ts'

type Resolution = z.infer<typeof resolveTicket.output>

/** The options of a run that is started, and what they become. */
export const startOptions: readonly Parameter[] = [
  {
    usage: '--input <JSON>',
    text: "the procedure's input as a JSON object, or @FILE; what is left out is looked for in the ticket",
  },
  { usage: '--customer <ID>', text: "the customer's id" },
  {
    usage: '--idempotency-key <KEY>',
    text: 'the same key and request give the same execution, and start nothing again',
  },
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
    return resolveText(shell, words === '-' ? (await readText('-')).trim() : words, {
      procedureKey: given.find('procedure'),
      input: await readObject(shell, '--input', given.find('input')),
      customerId: given.find('customer'),
      idempotencyKey: given.find('idempotency-key'),
    })
  },
}

export const ticketCommands: readonly Command[] = [resolve, search]

type ResolveAnswer = Answer & { readonly output: Resolution }
type ResolveOptions = Readonly<Record<string, unknown>>

/** Resolves a ticket and shows it as it goes: the candidates, then what `runTicket` shows. */
export async function resolveText(
  shell: Shell,
  text: string,
  options: ResolveOptions = {},
): Promise<ResolveAnswer> {
  const { terminal } = shell
  if (!terminal.json) {
    // People see the candidates before the run; the operation searches again, and its answer is what holds.
    const selection = await shell.call(searchProcedures, { issue: text })
    terminal.print(labelled(terminal, 'Ticket', text))
    terminal.print(selectionScreen(terminal, selection))
  }
  return runTicket(shell, text, options)
}

/** Resolves a ticket, showing each step when it is committed; the end and the reply are left for the answer's screen. */
export async function runTicket(
  shell: Shell,
  text: string,
  options: ResolveOptions,
): Promise<ResolveAnswer> {
  const { terminal } = shell
  const request = { ...options, ticket: { text } }
  const output = await shell.call(resolveTicket, request, liveSteps(terminal))
  await hintWhenEmpty(shell, output)
  return { output, screen: resolutionScreen(terminal, output) }
}

function resolutionScreen(terminal: Terminal, output: Resolution): string {
  const { execution, steps, reply, selection, triageId } = output
  if (execution !== null) return endScreen(terminal, { execution, steps, reply })
  if (selection.decision === 'ambiguous') {
    return terminal.style('quiet', 'Choose one with --procedure KEY.')
  }
  return [
    labelled(terminal, 'Triage', `opened for a person: ${triageId}`),
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
