import type { z } from 'zod'
import { addLesson } from '../operations/add-lesson.ts'
import { creditLessons } from '../operations/credit-lessons.ts'
import { curateLessons } from '../operations/curate-lessons.ts'
import { editLesson } from '../operations/edit-lesson.ts'
import { exportLessons } from '../operations/export-lessons.ts'
import { getLessons } from '../operations/get-lessons.ts'
import { importLessons } from '../operations/import-lessons.ts'
import { listLessons } from '../operations/list-lessons.ts'
import { removeLesson } from '../operations/remove-lesson.ts'
import { showLessons } from '../operations/show-lessons.ts'
import {
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  pageInput,
  pageOptions,
} from './command.ts'
import { usageError } from './failures.ts'
import { readDocumentFile, readValue } from './read-text.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

type Lesson = z.infer<typeof editLesson.output>

const tagArgument = { usage: '<TAG>', text: 'a task tag: an agent, or a kind of task' }
const idArgument = { usage: '<ID>', text: 'the id of a lesson, les_…' }
const none = (tag: string) =>
  `Nothing was learned for '${tag}' yet. 'stepwarden lessons list' shows for what something was.`

const list = operationCommand({
  path: 'lessons list',
  operation: listLessons,
  options: pageOptions,
  input: pageInput,
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['TAG', 'LESSONS', 'CHANGED'],
      items.map(({ taskTag, entryCount, updatedAt }) => [
        taskTag,
        String(entryCount),
        instantText(updatedAt) ?? '',
      ]),
      'Nothing was learned yet.',
    ) + nextPageLine(terminal, nextCursor),
})

const show = operationCommand({
  path: 'lessons show',
  operation: getLessons,
  arguments: [tagArgument],
  options: [{ usage: '--prompt', text: 'as an agent is shown them' }],
  input: (given) => ({ taskTag: given.text('TAG') }),
  screen: ({ entries, text }, terminal, given) =>
    given.has('prompt') ? text : lessonTable(entries, terminal, given.text('TAG')),
})

const take = operationCommand({
  path: 'lessons take',
  operation: showLessons,
  arguments: [tagArgument],
  notes: "Its lines earn the score that 'stepwarden lessons credit' tells of the run.",
  input: (given) => ({ taskTag: given.text('TAG') }),
  screen: ({ text, showingId }, terminal, given) =>
    showingId === null
      ? none(given.text('TAG'))
      : `${text}\n\n${fields(terminal, [['Showing', showingId]])}`,
})

const credit = operationCommand({
  path: 'lessons credit',
  operation: creditLessons,
  arguments: [
    { usage: '<SHOWING>', text: 'what lessons take has answered, shw_…' },
    { usage: '<SCORE>', text: 'how the run went, 0 to 1' },
  ],
  input: (given) => ({
    showingId: given.text('SHOWING'),
    score: scoreOf(given, 'SCORE'),
  }),
  screen: ({ creditedCount, taskTag }) =>
    `${countText(creditedCount, 'lesson')} of '${taskTag}' credited.`,
})

const curate: Command = {
  path: 'lessons curate',
  summary: curateLessons.summary,
  arguments: [tagArgument],
  options: [
    { usage: '--score <SCORE>', text: 'how the run went, 0 to 1' },
    { usage: '--issue <TEXT>', text: 'what was wrong with it' },
    { usage: '--issues <LIST>', text: 'several, as a list in JSON or YAML, or @FILE' },
    { usage: '--answer <TEXT>', text: 'what the run answered last' },
    { usage: '--max <N>', text: 'how many lessons the tag keeps, 1 to 200 (default 30)' },
  ],
  notes: `  stepwarden lessons curate support --score 0.4 --issue "rate limits"
  stepwarden lessons curate support --score 0.9 --answer "Looked the transaction up first."`,
  async run(shell, given) {
    const [issue, list] = [given.find('issue'), given.find('issues')]
    if (issue !== undefined && list !== undefined) {
      throw usageError('--issue and --issues exclude each other.', 'Give one.')
    }
    const several = list === undefined ? [] : await readValue(shell, '--issues', list)
    const output = await shell.call(curateLessons, {
      taskTag: given.text('TAG'),
      feedback: {
        score: scoreOf(given, 'score'),
        issues: issue === undefined ? several : [issue],
      },
      lastAnswer: given.find('answer'),
      maxEntries: given.number('max'),
    })
    const { addedCount, mergedCount, droppedCount, entryCount } = output
    return {
      output,
      screen: `${addedCount} new, ${mergedCount} known, ${droppedCount} dropped; ${countText(entryCount, 'lesson')} now.`,
    }
  },
}

const add = operationCommand({
  path: 'lessons add',
  operation: addLesson,
  arguments: [tagArgument, { usage: '<TEXT...>', text: 'what it says, in one line' }],
  options: [{ usage: '--avoid', text: 'it is worth avoiding, not worth repeating' }],
  input: (given) => ({
    taskTag: given.text('TAG'),
    kind: given.has('avoid') ? 'harmful' : 'helpful',
    content: given.text('TEXT'),
  }),
  screen: lessonScreen,
})

const edit = operationCommand({
  path: 'lessons edit',
  operation: editLesson,
  arguments: [idArgument, { usage: '[TEXT...]', text: 'what it says from now on' }],
  options: [
    { usage: '--helpful', text: 'it is worth repeating' },
    { usage: '--avoid', text: 'it is worth avoiding' },
  ],
  input: (given) => ({
    lessonId: given.text('ID'),
    content: given.find('TEXT'),
    kind: kindOf(given),
  }),
  screen: lessonScreen,
})

const remove = operationCommand({
  path: 'lessons remove',
  operation: removeLesson,
  arguments: [idArgument],
  input: (given) => ({ lessonId: given.text('ID') }),
  screen: ({ taskTag, entryCount }) =>
    `Removed; '${taskTag}' has ${countText(entryCount, 'lesson')} now.`,
})

const importFile: Command = {
  path: 'lessons import',
  summary: importLessons.summary,
  arguments: [
    { usage: '<FILE>', text: 'what lessons export has written, or - for standard input' },
  ],
  options: [
    { usage: '--tag <TAG>', text: 'the task tag (default: that of the file)' },
    { usage: '--replace', text: 'remove what the tag has besides' },
  ],
  async run(shell, given) {
    const { value } = await readDocumentFile(shell, given.text('FILE'))
    const { taskTag, lessons } = Object(value)
    const output = await shell.call(importLessons, {
      taskTag: given.find('tag') ?? taskTag,
      lessons,
      replace: given.has('replace'),
    })
    const { addedCount, keptCount, removedCount, entryCount } = output
    return {
      output,
      screen: `${addedCount} new, ${keptCount} known, ${removedCount} removed; '${output.taskTag}' has ${countText(entryCount, 'lesson')} now.`,
    }
  },
}

const exportTag = operationCommand({
  path: 'lessons export',
  operation: exportLessons,
  arguments: [tagArgument],
  notes: '  stepwarden lessons export support > support.json',
  input: (given) => ({ taskTag: given.text('TAG') }),
  screen: (output) => JSON.stringify(output, null, 2),
})

export const lessonCommands: readonly Command[] = [
  list,
  show,
  take,
  credit,
  curate,
  add,
  edit,
  remove,
  importFile,
  exportTag,
]

function lessonTable(entries: readonly Lesson[], terminal: Terminal, tag: string): string {
  return table(
    terminal,
    ['LESSON', 'KIND', 'USES', 'LAST', 'CREDIT', 'SAYS'],
    entries.map((lesson) => [
      lesson.lessonId,
      kindText(lesson),
      String(lesson.uses),
      lesson.lastScore === null ? '–' : lesson.lastScore.toFixed(2),
      creditText(lesson),
      lesson.content,
    ]),
    none(tag),
  )
}

function lessonScreen(lesson: Lesson, terminal: Terminal): string {
  return fields(terminal, [
    ['Lesson', lesson.lessonId],
    ['Kind', kindText(lesson)],
    ['Says', lesson.content],
  ])
}

function kindText({ kind, isByHand }: Lesson): string {
  return `${kind === 'helpful' ? 'helpful' : 'avoid'}${isByHand ? ', by hand' : ''}`
}

function creditText({ credit: sum, creditedRuns }: Lesson): string {
  return creditedRuns === 0 ? '–' : `${sum.toFixed(2)} of ${creditedRuns}`
}

function kindOf(given: Given): 'helpful' | 'harmful' | undefined {
  if (given.has('helpful') && given.has('avoid')) {
    throw usageError('--helpful and --avoid exclude each other.', 'Give one.')
  }
  if (given.has('helpful')) return 'helpful'
  return given.has('avoid') ? 'harmful' : undefined
}

function scoreOf(given: Given, name: string): number {
  const text = given.find(name)
  const score = /^(0|1|[01]?\.\d+)$/.test(text ?? '') ? Number(text) : Number.NaN
  if (score >= 0 && score <= 1) return score
  const found = text === undefined ? 'none was given' : `found '${text}'`
  throw usageError(`The score must be a number from 0 to 1, ${found}.`, 'Write it as 0.8.')
}
