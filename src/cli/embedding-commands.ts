import type { z } from 'zod'
import { calibrateEmbeddings } from '../operations/calibrate-embeddings.ts'
import { continueEmbeddingSwitch } from '../operations/continue-embedding-switch.ts'
import { getEmbeddings } from '../operations/get-embeddings.ts'
import { switchEmbeddings } from '../operations/switch-embeddings.ts'
import { type Answer, type Command, type Given, operationCommand } from './command.ts'
import type { Shell } from './shell.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'

type Calibration = z.infer<typeof calibrateEmbeddings.output>

const status = operationCommand({
  path: 'embeddings status',
  operation: getEmbeddings,
  input: () => ({}),
  screen: ({ models, versionCount, advice }, terminal) => {
    const rows = models.map((one) => [
      one.model,
      [
        one.isCurrent && 'in use',
        one.isOffline && 'offline',
        one.switchingSince !== null && 'switching to it',
        !one.isAvailable && 'not available here',
      ]
        .filter((part) => part !== false)
        .join(', '),
      `${one.vectorCount} of ${versionCount}`,
      one.calibrated
        ? `${one.minSimilarity.toFixed(2)} / ${one.margin.toFixed(2)}`
        : 'not measured',
    ])
    const headings = ['MODEL', 'STATE', 'VERSIONS', 'SIMILARITY / MARGIN']
    return [
      table(terminal, headings, rows, 'No embedding models.'),
      ...advice.map((text) => terminal.style('care', terminal.wrap(text, 0))),
    ].join('\n\n')
  },
})

const calibrate = operationCommand({
  path: 'embeddings calibrate',
  operation: calibrateEmbeddings,
  arguments: [{ usage: '[MODEL]', text: 'the model to measure (default: the one in use)' }],
  notes:
    'It asks the model for vectors of the examples, and stores the similarity and the lead from which on nine of ten selections are right.',
  input: (given) => ({ model: given.find('MODEL') }),
  screen: calibrationScreen,
})

/** What was measured, on what, and what to do when nothing came of it. */
export function calibrationScreen(result: Calibration, terminal: Terminal): string {
  return fields(terminal, [
    ['Model', result.model],
    ['Similarity', result.minSimilarity.toFixed(2)],
    ['Margin', result.margin.toFixed(2)],
    ['Examples', `${result.matchCount} that match, ${result.noMatchCount} that do not`],
    ['Left out', leftOutText(result)],
    [
      'On them',
      `F1 ${result.f1.toFixed(2)}; ${percent(result.selected)} selected, ${percent(result.precision)} of these rightly`,
    ],
    [
      'Stored',
      result.isStored
        ? 'yes: search by this model goes by it from now on'
        : 'no: no thresholds make nine of ten selections right',
    ],
    [
      'Next',
      result.isStored
        ? null
        : 'what held before holds on. Word the issue patterns of playbooks that are taken for each other further apart, or give more examples, and calibrate again',
    ],
  ])
}

function leftOutText({ leftOut }: Calibration): string | null {
  const { matchedElsewhere, repeated, beyondLimit } = leftOut
  const parts = [
    matchedElsewhere > 0 &&
      `${matchedElsewhere} that do not match and are a match of another playbook`,
    repeated > 0 && `${repeated} that stand there twice`,
    beyondLimit > 0 && `${beyondLimit} beyond what is measured on`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? null : parts.join(', ')
}

/** A slow server may take longer over a few versions than a person waits without a word. */
const beatMs = 2_000

const switchModel: Command = {
  path: 'embeddings switch',
  summary: switchEmbeddings.summary,
  arguments: [{ usage: '<MODEL>', text: 'the model, as `embeddings status` names it' }],
  options: [
    {
      usage: '--unmeasured',
      text: 'switch to a model that was never measured as well; search selects nothing by it',
    },
  ],
  notes:
    'Search goes on with the model in use until every version has a vector of the new one. Stop it whenever you like: the same command carries it on. With the model in use it makes vectors that are lacking.',
  run: runSwitch,
}

async function runSwitch(shell: Shell, given: Given): Promise<Answer> {
  const { terminal } = shell
  const model = given.text('MODEL')
  const { instead } = await shell.call(switchEmbeddings, {
    model,
    unmeasured: given.has('unmeasured'),
  })
  if (instead !== null) terminal.notice(`The switch to ${instead} that was under way is given up.`)
  return shell.interruptible(
    `What was made is kept: 'stepwarden embeddings switch ${model}' carries the switch on.`,
    async () => {
      for (let told = 'The first vectors are being made.'; ; ) {
        const carryOn = () => shell.call(continueEmbeddingSwitch, {})
        const progress = await withBeat(carryOn, () => terminal.notice(told))
        if (progress.isDone) return { output: progress, screen: endText(progress.model) }
        told = `${progress.vectorCount} of ${progress.versionCount} versions have a vector of ${progress.model}`
        terminal.notice(told)
      }
    },
  )
}

/** Waits for something, and tells every two seconds that it is still at work. */
async function withBeat<T>(run: () => Promise<T>, tell: () => void): Promise<T> {
  const timer = setInterval(tell, beatMs)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}

/** Another process may have ended the switch in between. */
function endText(model: string | null): string {
  return model === null
    ? "The switch is over; 'stepwarden embeddings status' shows the model in use."
    : `Search uses ${model} now.`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

export const embeddingCommands: readonly Command[] = [status, calibrate, switchModel]
