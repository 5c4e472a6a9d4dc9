/**
 * One worker of the chaos run, in a process of its own. Arguments: a JSON object as `WorkerOrder`. Prints `ready` when it
 * is at work, and its log of errors to standard error. It ends by being killed, by killing itself at the boundary that it was told, or by SIGTERM.
 */
import { openContext } from '../../src/context.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { createTools } from './desk.ts'
import { startPeople, type Voice } from './people.ts'
import { randomOf } from './random.ts'

export interface WorkerOrder {
  readonly url: string
  readonly worldFile: string
  readonly wordsFile: string
  readonly seed: number
  readonly concurrency: number
  /** Kills itself at the `count`-th time that it passes this boundary, `after_call` for example. */
  readonly dieAt?: { readonly boundary: string; readonly count: number }
  /** How far the clock of this process is off at first, and how often it jumps, by up to as much again. */
  readonly clockOffMs: number
}

const order: WorkerOrder = JSON.parse(process.argv[2] ?? '')
const random = randomOf(order.seed)
let passed = 0
let offMs = order.clockOffMs

const app = await openContext(
  { database: { url: order.url }, tenantId: 'default', logLevel: 'error' },
  {
    tools: createTools(order.worldFile, random),
    embedder: ngramEmbedder,
    clock: {
      now() {
        if (offMs !== 0 && random() < 0.01) offMs = order.clockOffMs * (2 * random() - 1)
        return Date.now() + Math.round(offMs)
      },
    },
    onBoundary(boundary) {
      if (boundary !== order.dieAt?.boundary) return
      passed += 1
      if (passed < order.dieAt.count) return
      console.log(`dies at ${boundary}`)
      process.kill(process.pid, 'SIGKILL')
    },
  },
).catch((error: unknown) => {
  // Whoever has started it starts another: the server may be away.
  console.error(`a worker cannot begin: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
const working = startWorking(app, { concurrency: order.concurrency, pollMs: 50 })
/** They go with the process: each word, and what it sets going, is cut off anywhere as well. */
const people = startPeople({ as: voiceOf, wordsFile: order.wordsFile, random })
process.once('SIGTERM', async () => {
  await Promise.all([working.stop(), people.stop()])
  await app[Symbol.asyncDispose]()
})
console.log('ready')

function voiceOf(principal: Principal): Voice {
  const caller = { principal, origin: 'library' } as const
  return {
    listWaitingSteps: (input) => operations.listWaitingSteps.invoke(app, caller, input),
    answerStep: (input) => operations.answerStep.invoke(app, caller, input),
    approveStep: (input) => operations.approveStep.invoke(app, caller, input),
    denyStep: (input) => operations.denyStep.invoke(app, caller, input),
  }
}
