import {
  examineIndexes,
  indexLimits,
  type StandingIndex,
} from '../operations/experience-indexes.ts'
import { measureRecalls } from '../operations/measure-recalls.ts'
import type { Command } from './command.ts'
import { usageError } from './failures.ts'
import { progress } from './progress.ts'
import type { IndexedExperiences, Shell } from './shell.ts'

const { comparedOneByOne, leastRecall } = indexLimits

/** What finds more, and takes longer to build. */
const finer = 'stepwarden experiences index --rebuild --links 64 --breadth 200'

export const index: Command = {
  path: 'experiences index',
  summary: 'Make the indexes by which many experiences are found fast, and measure them',
  arguments: [
    { usage: '[MODEL]', text: 'only of this embedding model (default: of each that needs one)' },
  ],
  options: [
    { usage: '--rebuild', text: 'build anew what is there; it serves until then' },
    { usage: '--anyway', text: `also where no tenant has more than ${comparedOneByOne}` },
    { usage: '--memory <SIZE>', text: 'what the server may take for it, such as 4GB' },
    { usage: '--links <N>', text: 'links of a vector, 2 to 100 (default 32): more finds more' },
    {
      usage: '--breadth <N>',
      text: 'how far a vector looks for them, 4 to 1000, twice --links at least (default 64)',
    },
  ],
  notes: [
    'It is for those who run the deployment: it connects as `migrate` does, asks for no key, and holds for all tenants.',
    'Reading and writing go on meanwhile. When it was interrupted, the same command begins anew, or follows the build',
    'that a server goes on with.',
  ].join('\n'),
  async run(shell, given) {
    const options = {
      model: given.find('MODEL'),
      anyway: given.has('anyway'),
      rebuild: given.has('rebuild'),
      memory: memoryOf(given.find('memory')),
      ...graphOf(given.number('links'), given.number('breadth')),
    }
    return shell.interruptible(
      "A server goes on with the build: 'stepwarden experiences index' follows it, or begins anew.",
      async () => {
        const { config, parts } = shell
        const models = await parts.indexExperiences(config.database, options, {
          tell: progress(shell),
          warn: (line) => shell.terminal.notice(`The server says: ${line} (--memory gives more)`),
        })
        if (options.model !== undefined && models.length === 0) {
          throw usageError(
            `There is no embedding model ${options.model}.`,
            "'stepwarden embeddings status' shows which there are.",
          )
        }
        const isThere = models.some(({ status }) => status !== 'not_worth_it')
        const recalls = isThere ? await measure(shell) : []
        const screen = [
          ...models.map(becameText),
          ...recalls.map(
            ({ tenantId, model, recall }) =>
              `Tenant ${tenantId}: the index of ${model} finds ${recall.toFixed(3)} of what is there, ${
                recall >= leastRecall
                  ? 'and is used from now on.'
                  : `which is less than ${leastRecall}: all are compared. More is found after '${finer}'.`
              }`,
          ),
        ]
        return {
          output: { models, recalls },
          screen:
            screen.join('\n') ||
            'No embedding model is known yet, so there is nothing to find by an index.',
        }
      },
    )
  },
}

async function measure(shell: Shell) {
  if (!shell.terminal.json) {
    shell.terminal.notice('Measuring what it finds: a worker does so too, if this is stopped.')
  }
  return measureRecalls(await shell.bareApp())
}

function becameText({ model, status, seconds }: IndexedExperiences): string {
  switch (status) {
    case 'made':
      return `The index of ${model} was made in ${seconds} s.`
    case 'rebuilt':
      return `The index of ${model} was built anew in ${seconds} s.`
    case 'there':
      return `The index of ${model} is there.`
    case 'not_worth_it':
      return `No tenant has more than ${comparedOneByOne} experiences with a vector of ${model}: to compare all of them is fast, and exact. No index was made; --anyway makes it.`
    case 'too_wide':
      return `${model} has vectors of more than 4000 numbers, of which pgvector makes no index: all experiences are compared.`
  }
}

function memoryOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[1-9]\d{0,4}(MB|GB)$/.test(text)) return text
  throw usageError(`--memory must be a size, found '${text}'.`, 'Write it as 512MB or 4GB.')
}

function graphOf(links: number | undefined, breadth: number | undefined) {
  if (links !== undefined && (links < 2 || links > 100)) {
    throw usageError(`--links must be 2 to 100, found ${links}.`, 'Try 64.')
  }
  const least = Math.max(4, 2 * (links ?? 32))
  if (breadth !== undefined && (breadth < least || breadth > 1_000)) {
    throw usageError(
      `--breadth must be ${least} to 1000, found ${breadth}.`,
      'It is twice --links at least.',
    )
  }
  // The server refuses links that are more than half of what its default looks at.
  return { links, breadth: breadth ?? (least > 64 ? least : undefined) }
}

/** What doctor says of the experiences of a tenant. */
export async function examineExperiences(
  shell: Shell,
): Promise<{ readonly status: 'ok' | 'warn'; readonly text: string }> {
  const indexes = await examineIndexes(await shell.bareApp(), shell.config.tenantId)
  const bad = indexes.filter(({ standing }) => standing !== 'small' && standing !== 'good')
  if (bad.length > 0) return { status: 'warn', text: bad.map(standingText).join(' ') }
  return { status: 'ok', text: indexes.map(standingText).join(' ') }
}

function standingText({ model, standing, recall, measuredAt }: StandingIndex): string {
  const all = 'every search compares all'
  switch (standing) {
    case 'small':
      return `${model}: up to ${comparedOneByOne}, which are compared one by one.`
    case 'good':
      return `${model}: an index finds ${recall?.toFixed(3)} of what is there, measured ${measuredAt?.toISOString().slice(0, 10)}.`
    case 'none':
      return `${model}: more than ${comparedOneByOne} and no index, so ${all}; 'stepwarden experiences index' makes one.`
    case 'unfinished':
      return `${model}: its index is not whole, so ${all}; 'stepwarden experiences index' follows a build that goes on, and makes it anew when it was interrupted.`
    case 'unmeasured':
      return `${model}: nobody has measured its index, so ${all}; a worker does so within minutes, or 'stepwarden experiences index'.`
    case 'poor':
      return `${model}: its index finds ${recall?.toFixed(3)} of what is there, less than ${leastRecall}, so ${all}; more is found after '${finer}'.`
  }
}
