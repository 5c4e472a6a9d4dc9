import type { z } from 'zod'
import { changeWebhook } from '../operations/change-webhook.ts'
import { createWebhook } from '../operations/create-webhook.ts'
import { deleteWebhook } from '../operations/delete-webhook.ts'
import { listWebhookDeliveries } from '../operations/list-webhook-deliveries.ts'
import { listWebhooks } from '../operations/list-webhooks.ts'
import { replayWebhook } from '../operations/replay-webhook.ts'
import { replayWebhookDelivery } from '../operations/replay-webhook-delivery.ts'
import { rotateWebhookSecret } from '../operations/rotate-webhook-secret.ts'
import { testWebhook } from '../operations/test-webhook.ts'
import {
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  pageInput,
  pageOptions,
} from './command.ts'
import { exitCodes, usageError } from './failures.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

type Webhook = z.infer<typeof changeWebhook.output>
type Delivery = z.infer<typeof testWebhook.output>

const which = { usage: '<ID>', text: 'the id of a webhook, whk_…' }
const eventsOption = {
  usage: '--events <EVENTS>',
  text: 'such as execution.completed, several with commas, or all (default: all)',
}
const descriptionOption = { usage: '--description <TEXT>', text: 'what it is for' }
const keepSecret = 'It is not shown again. Give it to the service that checks the signatures.'

const add = operationCommand({
  path: 'webhooks add',
  operation: createWebhook,
  arguments: [{ usage: '<URL>', text: 'where messages go, https://…' }],
  options: [eventsOption, descriptionOption],
  notes: 'docs/webhooks.md lists the events and shows a service that takes them.',
  input: (given) => ({
    url: given.text('URL'),
    events: eventsOf(given),
    description: given.find('description'),
  }),
  screen: ({ secret, ...webhook }, terminal) =>
    `${webhookScreen(webhook, terminal)}\n${fields(terminal, [['Secret', secret]])}\n\n${keepSecret}`,
})

const list = operationCommand({
  path: 'webhooks list',
  operation: listWebhooks,
  options: pageOptions,
  input: pageInput,
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['WEBHOOK', 'URL', 'EVENTS', 'STATUS', 'LAST DELIVERED', 'FOR'],
      items.map((item) => [
        item.webhookId,
        item.url,
        eventsText(item),
        statusText(item),
        instantText(item.lastDeliveredAt) ?? 'never',
        item.description,
      ]),
      "Nobody is told of anything. 'stepwarden webhooks add https://…' changes that.",
    ) + nextPageLine(terminal, nextCursor),
})

const change = operationCommand({
  path: 'webhooks change',
  operation: changeWebhook,
  arguments: [which],
  options: [
    { usage: '--url <URL>', text: 'where messages go from now on' },
    eventsOption,
    descriptionOption,
    { usage: '--pause', text: 'send nothing; what happens is kept for up to 30 days' },
    { usage: '--resume', text: 'send again, and what was kept at once' },
  ],
  input: (given) => ({
    webhookId: given.text('ID'),
    url: given.find('url'),
    events: eventsOf(given),
    description: given.find('description'),
    paused: pausedOf(given),
  }),
  screen: webhookScreen,
})

const remove = operationCommand({
  path: 'webhooks remove',
  operation: deleteWebhook,
  arguments: [which],
  input: (given) => ({ webhookId: given.text('ID') }),
  screen: ({ url }) => `${url} is told nothing any more.`,
})

const rotate = operationCommand({
  path: 'webhooks rotate',
  operation: rotateWebhookSecret,
  arguments: [which],
  input: (given) => ({ webhookId: given.text('ID') }),
  screen: ({ secret, previousUntil }, terminal) =>
    `${fields(terminal, [
      ['Secret', secret],
      ['Old one until', instantText(previousUntil)],
    ])}\n\n${keepSecret}`,
})

const deliveries = operationCommand({
  path: 'webhooks deliveries',
  operation: listWebhookDeliveries,
  arguments: [which],
  options: [
    { usage: '--status <STATUS>', text: 'only those that are pending, delivered or failed' },
    { usage: '--type <EVENT>', text: 'only those of one event' },
    ...pageOptions,
  ],
  input: (given) => ({
    ...pageInput(given),
    webhookId: given.text('ID'),
    status: given.find('status'),
    type: given.find('type'),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['MESSAGE', 'AT', 'EVENT', 'STATUS', 'TRIES', 'LAST TRY'],
      items.map((item) => [
        item.deliveryId,
        instantText(item.timestamp) ?? '',
        item.type,
        item.nextAttemptAt === null ? item.status : `until ${instantText(item.nextAttemptAt)}`,
        String(item.attempts.length),
        lastTryText(item),
      ]),
      'No messages.',
    ) + nextPageLine(terminal, nextCursor),
})

/** Nothing was sent when the command ends: the messages are due, no more. */
const whoSends =
  "'stepwarden serve' or 'worker' does that; 'stepwarden webhooks deliveries' shows what came of it."

const replay: Command = {
  path: 'webhooks replay',
  summary: replayWebhook.summary,
  arguments: [{ usage: '<ID>', text: 'the id of a message, dlv_…, or with --since of a webhook' }],
  options: [
    { usage: '--since <TIME>', text: 'those of what happened since then' },
    { usage: '--until <TIME>', text: 'and before then' },
    {
      usage: '--status <STATUS>',
      text: 'those that have failed, were delivered, or all (default failed)',
    },
  ],
  notes: 'They keep their ids, so that a service that has taken one already can tell.',
  async run(shell, given) {
    const since = given.instant('since')
    if (since === undefined) {
      if (!given.text('ID').startsWith('dlv_')) {
        throw usageError(
          '--since is missing: since when are the messages of the webhook to be sent?',
          'Give a time such as 2026-05-03, or the id of one message.',
        )
      }
      const output = await shell.call(replayWebhookDelivery, { deliveryId: given.text('ID') })
      return { output, screen: `${output.deliveryId} will be sent again. ${whoSends}` }
    }
    const output = await shell.call(replayWebhook, {
      webhookId: given.text('ID'),
      since,
      until: given.instant('until'),
      status: given.find('status'),
    })
    return {
      output,
      screen:
        output.count === 0
          ? 'No message of that time has this status, so none will be sent again.'
          : `${countText(output.count, 'message')} will be sent again. ${whoSends}`,
    }
  },
}

const test = operationCommand({
  path: 'webhooks test',
  operation: testWebhook,
  arguments: [which],
  input: (given) => ({ webhookId: given.text('ID') }),
  exitCode: ({ status }) => (status === 'delivered' ? exitCodes.done[0] : exitCodes.disagrees[0]),
  screen: (delivery) => `${delivery.deliveryId}: ${lastTryText(delivery)}`,
})

export const webhookCommands: readonly Command[] = [
  add,
  list,
  change,
  remove,
  rotate,
  deliveries,
  replay,
  test,
]

function webhookScreen(webhook: Webhook, terminal: Terminal): string {
  return fields(terminal, [
    ['Webhook', webhook.webhookId],
    ['Url', webhook.url],
    ['Events', eventsText(webhook)],
    ['Status', statusText(webhook)],
    ['For', webhook.description === '' ? null : webhook.description],
  ])
}

function eventsText({ events }: Pick<Webhook, 'events'>): string {
  return events === null ? 'all' : events.join(', ')
}

function statusText({
  status,
  pausedBecause,
  failingSince,
}: Pick<Webhook, 'status' | 'pausedBecause' | 'failingSince'>): string {
  switch (pausedBecause) {
    case 'asked':
      return 'paused'
    case 'gone':
      return 'paused: it answered that it is gone'
    case 'failing':
      return `paused: nothing delivered since ${instantText(failingSince)}`
    case null:
      return failingSince === null ? status : `failing since ${instantText(failingSince)}`
    default:
      return pausedBecause satisfies never
  }
}

function lastTryText({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (last === undefined) return '–'
  const answer = last.status === null ? '' : `answered ${last.status}`
  const said = last.answer === undefined ? '' : `: ${last.answer.slice(0, 60)}`
  const what = last.problem !== null && last.status === null ? last.problem : `${answer}${said}`
  return `${what.replaceAll(/\s+/g, ' ')} (${last.durationMs} ms)`
}

function eventsOf(given: Given): readonly string[] | null | undefined {
  const text = given.find('events')
  if (text === undefined) return undefined
  return text.trim() === 'all' ? null : given.words('events')
}

function pausedOf(given: Given): boolean | undefined {
  const [pause, resume] = [given.has('pause'), given.has('resume')]
  if (pause && resume) throw usageError('--pause and --resume exclude each other.', 'Give one.')
  return pause || resume ? pause : undefined
}
