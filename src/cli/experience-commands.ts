import { isJsonObject } from '../domain/json.ts'
import type { ExperienceOutput } from '../operations/experience-output.ts'
import { getExperience } from '../operations/get-experience.ts'
import { listExperiences } from '../operations/list-experiences.ts'
import { pruneExperiences } from '../operations/prune-experiences.ts'
import { recordExperience } from '../operations/record-experience.ts'
import { retrieveExperiences } from '../operations/retrieve-experiences.ts'
import { type Command, nextPageLine, operationCommand, pageInput, pageOptions } from './command.ts'
import { index } from './experience-index.ts'
import { usageError } from './failures.ts'
import { readDocumentFile } from './read-text.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

const agentOption = { usage: '--agent <AGENT>', text: 'only those of one agent' }

const list = operationCommand({
  path: 'experiences list',
  operation: listExperiences,
  options: [
    agentOption,
    { usage: '--outcome <TYPE>', text: 'success, partial_success or failure' },
    { usage: '--tag <TAG>', text: 'only those with this tag' },
    { usage: '--session <SESSION>', text: 'only those of one session' },
    { usage: '--execution <ID>', text: 'only that of one run' },
    ...pageOptions,
  ],
  input: (given) => ({
    ...pageInput(given),
    agentId: given.find('agent'),
    outcomeType: given.find('outcome'),
    tag: given.find('tag'),
    sessionId: given.find('session'),
    executionId: given.find('execution'),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['EXPERIENCE', 'AGENT', 'OUTCOME', 'SCORE', 'USED', 'SITUATION'],
      items.map((item) => [
        item.id,
        item.agentId,
        item.outcomeType,
        item.score.toFixed(2),
        `${item.useCount}x`,
        lineOf(item.situation, 60),
      ]),
      'No experiences.',
    ) + nextPageLine(terminal, nextCursor),
})

const show = operationCommand({
  path: 'experiences show',
  operation: getExperience,
  arguments: [{ usage: '<ID>', text: 'the id of an experience, exp_…' }],
  input: (given) => ({ experienceId: given.text('ID') }),
  screen: experienceScreen,
})

const record: Command = {
  path: 'experiences record',
  summary: recordExperience.summary,
  arguments: [
    {
      usage: '<FILE>',
      text: 'YAML or JSON as docs/experiences.md shows it, or - for standard input',
    },
  ],
  async run(shell, given) {
    const { value } = await readDocumentFile(shell, given.text('FILE'))
    if (!isJsonObject(value)) {
      throw usageError('The file holds no object.', 'docs/experiences.md has an example.')
    }
    const output = await shell.call(recordExperience, value)
    const { experience, isNew } = output
    const what = isNew ? 'Recorded' : 'It was there already, and was counted'
    return { output, screen: `${what}: ${experience.id}` }
  },
}

const find = operationCommand({
  path: 'experiences find',
  operation: retrieveExperiences,
  arguments: [{ usage: '<SITUATION...>', text: 'what is to be done, in words' }],
  options: [
    { usage: '--agent <AGENTS>', text: 'whose, several with commas, or all (default: your own)' },
    { usage: '--outcome <TYPE>', text: 'success (default), partial_success, failure or all' },
    { usage: '--tags <TAGS>', text: 'only what has all of these, with commas' },
    { usage: '--top <N>', text: 'how many, 1 to 50 (default 5)' },
  ],
  notes: `It prints the block that an agent is given, and counts as a use. The experiences of runs are those of the agent
'executor'.`,
  input: (given) => ({
    situation: given.text('SITUATION'),
    topK: given.number('top'),
    outcomeType: given.find('outcome'),
    tags: given.words('tags'),
    ...(given.find('agent') === 'all'
      ? { allAgents: true }
      : given.find('agent') !== undefined && { agentIds: given.words('agent') }),
  }),
  screen: ({ context }) => (context === '' ? 'Nothing like it was met.' : context.trim()),
})

const prune: Command = {
  path: 'experiences prune',
  summary: pruneExperiences.summary,
  options: [
    { usage: '--dry-run', text: 'only say what would be deleted' },
    { usage: '--unused-days <N>', text: 'not used, nor recorded, for so long (default 180)' },
    agentOption,
  ],
  notes:
    'Workers do so once a week. What is deleted scores below 0.5; a proposal keeps what it needs.',
  async run(shell, given) {
    const input = {
      dryRun: given.has('dry-run'),
      unusedDays: given.number('unused-days'),
      agentId: given.find('agent'),
    }
    let output = await shell.call(pruneExperiences, input)
    while (output.left > 0) {
      const next = await shell.call(pruneExperiences, input)
      output = {
        ...next,
        deleted: output.deleted + next.deleted,
        deletedItems: [...output.deletedItems, ...next.deletedItems],
      }
    }
    return { output, screen: pruneScreen(output, shell.terminal) }
  },
}

function pruneScreen(
  output: Awaited<ReturnType<typeof pruneExperiences.invoke>>,
  terminal: Terminal,
): string {
  const { dryRun, deleted, deletedItems, review, reviewItems } = output
  const rows = (items: typeof deletedItems) =>
    table(
      terminal,
      ['EXPERIENCE', 'AGENT', 'SCORE', 'USED', 'SITUATION'],
      items.map((item) => [
        item.id,
        item.agentId,
        item.score.toFixed(2),
        `${item.useCount}x`,
        lineOf(item.situation, 50),
      ]),
      '',
    )
  return [
    `${dryRun ? 'Would be deleted' : 'Deleted'}: ${countText(deleted, 'experience')}.`,
    ...(deleted > 0 ? [rows(deletedItems)] : []),
    ...(review > 0 ? [`For review: ${countText(review, 'experience')}.`, rows(reviewItems)] : []),
  ].join('\n')
}

function experienceScreen(experience: ExperienceOutput, terminal: Terminal): string {
  const steps = experience.actionSequence.map(
    ({ step, tool, outputSummary }) => `  ${step}. ${tool}: ${lineOf(outputSummary, 200)}`,
  )
  return [
    fields(terminal, [
      ['Experience', experience.id],
      ['Agent', experience.agentId],
      ['Situation', lineOf(experience.situation, 500)],
      ['Outcome', `${experience.outcomeType}: ${lineOf(experience.outcome, 500)}`],
      ['Score', `${experience.score.toFixed(2)} (${experience.scoredBy})`],
      ['Tags', experience.tags.length === 0 ? null : experience.tags.join(', ')],
      ['Run', experience.executionId],
      ['Repeats', experience.repeatsId],
      ['Used', `${experience.useCount}x`],
      ['Last used', instantText(experience.lastUsedAt)],
      ['Recorded', instantText(experience.createdAt)],
    ]),
    'Steps taken:',
    ...steps,
  ].join('\n')
}

function lineOf(text: string, maxLength: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`
}

export const experienceCommands: readonly Command[] = [list, show, record, find, prune, index]
