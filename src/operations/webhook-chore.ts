import type { AppContext } from '../context.ts'
import { claimDeliveries, pruneDeliveries } from '../db/queries/webhook-deliveries.ts'
import { openSender } from '../webhooks/sender.ts'
import { claimMs, deliver } from './deliver.ts'
import { pause } from './pause.ts'

/** How often it is done, in milliseconds. */
export interface WebhookTimes {
  /** How often an idle worker looks for messages; default 500 ms. */
  readonly pollMs: number
  /** After how long a message whose sender is gone is sent again; default 30 s. */
  readonly claimMs: number
}

const defaultTimes: WebhookTimes = { pollMs: 500, claimMs }

/** How many messages a process sends at once; and of those, how many to services that have failed or take long. */
const places = 16
const placesForTroubled = 8
/** Once it is to stop, what is being sent may take so long. */
const lastWordsMs = 5_000
/** After an error, which is logged, this long. */
const afterErrorMs = 5_000

const pruneEveryMs = 3_600_000
const keptMs = 30 * 24 * 3_600_000
const prunedAtOnce = 10_000

/**
 * Sends the messages that are due, of all tenants in turn, until `signal` is aborted. Any number of processes may do so:
 * each message goes to one of them. It has places of its own, and runs wait for none of them.
 */
export async function lookAfterWebhooks(
  app: AppContext,
  signal: AbortSignal,
  times: WebhookTimes = defaultTimes,
): Promise<void> {
  await using sender = openSender(app.webhooks)
  const flying = new Map<
    Promise<void>,
    { readonly isTroubled: boolean; readonly ending: AbortController }
  >()
  let prunedAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    try {
      if (performance.now() - prunedAt >= pruneEveryMs) {
        prunedAt = performance.now()
        await pruneMessages(app, signal)
      }
      const troubled = [...flying.values()].filter(({ isTroubled }) => isTroubled).length
      const now = app.clock.now()
      const claims = await claimDeliveries(
        app.database,
        { now: new Date(now), until: new Date(now + times.claimMs) },
        places - flying.size,
        placesForTroubled - troubled,
      )
      for (const claim of claims) {
        const ending = new AbortController()
        const one = deliver(app, sender, claim, ending.signal)
          .catch((error) => {
            const { deliveryId } = claim
            app.log.warn({ err: error, deliveryId }, 'a message could not be sent or noted')
          })
          .finally(() => flying.delete(one))
        flying.set(one, { isTroubled: claim.isTroubled, ending })
      }
      // When one has ended, another may go.
      await Promise.race([pause(times.pollMs, signal), ...flying.keys()])
    } catch (error) {
      app.log.warn({ err: error }, 'messages could not be looked for; it is tried again')
      await pause(afterErrorMs, signal)
    }
  }
  const timer = setTimeout(() => {
    for (const { ending } of flying.values()) ending.abort()
  }, lastWordsMs)
  await Promise.allSettled(flying.keys())
  clearTimeout(timer)
}

async function pruneMessages(app: AppContext, signal: AbortSignal): Promise<void> {
  for (let pruned = prunedAtOnce; pruned >= prunedAtOnce && !signal.aborted; ) {
    const now = app.clock.now()
    const before = new Date(now - keptMs)
    pruned = await pruneDeliveries(app.database, new Date(now), before, prunedAtOnce)
  }
}
