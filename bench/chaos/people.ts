import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isServiceError } from '../../src/domain/errors.ts'
import type { Principal } from '../../src/domain/principal.ts'
import type { Client } from '../../src/library.ts'
import { callersGroup } from './playbooks.ts'

/** What somebody says at a step. `value` is the answer, or the words that do not fit. */
export interface Word {
  readonly executionId: string
  readonly step: string
  readonly iteration: string
  readonly act: 'answer' | 'words' | 'approve' | 'deny'
  readonly by: string
  readonly value?: string | number | boolean
  /** Why it has to be refused, where it has to. */
  readonly refuse?: 'unfit' | 'wrong person' | 'stale' | 'twice' | 'late'
}

/**
 * A line of the file of words. A word is written down before it is said, and once more when it is known what came of it:
 * `taken`, a code of ours, or `unclear` where the way to the database broke.
 */
export interface WordLine extends Word {
  readonly came?: string
}

export function readWords(wordsFile: string): readonly WordLine[] {
  return readFileSync(wordsFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

export type Voice = Pick<Client, 'listWaitingSteps' | 'answerStep' | 'approveStep' | 'denyStep'>

export interface PeopleOptions {
  /** The operations as one of them may call them. */
  readonly as: (principal: Principal) => Voice
  readonly wordsFile: string
  readonly random: () => number
  /**
   * Whether they know what time it is and who has called whom. Only those speak when it is too late, and to runs that
   * were called: with false for a run whose caller has ended.
   */
  readonly mayGoOn?: (executionId: string) => Promise<boolean>
}

export interface People {
  stop(): Promise<void>
}

type Item = Awaited<ReturnType<Voice['listWaitingSteps']>>['items'][number]

const person = (id: string, roles: Principal['roles'], more: Partial<Principal> = {}): Principal =>
  ({ id, kind: 'human', roles, groups: [], tenantId: 'default', ...more }) as const

const agents = ['ann', 'ada'].map((id) => person(id, ['agent']))
const approvers = ['bob', 'ben', 'bea'].map((id) => person(id, ['approver']))
const caller = person('kim', ['agent'], { groups: [callersGroup] })
const auditor = person('una', ['auditor'])
const robot = person('robo', ['agent', 'approver'], { kind: 'ai' })

/** How long after a deadline somebody is certainly too late. */
const lateByMs = 100
/** The longest wait for a deadline that is to be missed. */
const longestWaitMs = 3_500

/**
 * People who look at what waits, and speak to some of it: rightly, wrongly, for somebody else, twice, or too late. Each
 * word and what came of it goes to a file.
 */
export function startPeople({ as, wordsFile, random, mayGoOn }: PeopleOptions): People {
  let isStopping = false
  /** Those who wait for a deadline do not keep the others. */
  const late = new Set<Promise<void>>()

  function pick<T>(of: readonly T[], fallback: T): T {
    return of[Math.floor(random() * of.length)] ?? fallback
  }

  /** Says it, and answers what came of it. */
  async function say(principal: Principal, item: Item, word: Omit<Word, keyof Place | 'by'>) {
    const { executionId, step, iteration } = item
    const line: Word = { executionId, step, iteration, by: principal.id, ...word }
    const note = (more: object) =>
      appendFileSync(wordsFile, `${JSON.stringify({ ...line, ...more })}\n`)
    const at = { executionId: executionId as never, step, iteration }
    const voice = as(principal)
    note({})
    let came = 'taken'
    try {
      if (word.act === 'answer') await voice.answerStep({ ...at, answer: word.value as never })
      else if (word.act === 'words') await voice.answerStep({ ...at, text: String(word.value) })
      else if (word.act === 'deny') await voice.denyStep(at)
      else await voice.approveStep({ ...at, ...shown(item, word.refuse === 'stale') })
    } catch (error) {
      came = isServiceError(error) && !unclear.has(error.code) ? error.code : 'unclear'
    }
    note({ came })
    return came
  }

  async function answer(item: Item): Promise<void> {
    const isCode = item.step === 'code'
    const value = isCode ? String(1_000 + Math.floor(random() * 9_000)) : Math.floor(random() * 99)
    const who = item.step === 'asked' ? caller : pick(agents, caller)
    const right = { act: 'answer', value: item.step === 'asked' ? 'yes' : value } as const
    const chance = random()
    if (chance < 0.08) {
      await say(who, item, { act: 'answer', value: true, refuse: 'unfit' })
    } else if (chance < 0.16 && item.step !== 'asked') {
      await say(who, item, { act: 'words', value: 'I do not know' })
    } else if (chance < 0.22) {
      await say(auditor, item, { ...right, refuse: 'wrong person' })
    } else if (chance < 0.34 && deadlineOf(item) !== undefined) {
      sayLate(item, () => say(who, item, { ...right, refuse: 'late' }))
    } else if ((await say(who, item, right)) === 'taken' && random() < 0.3) {
      await say(who, item, { ...right, refuse: 'twice' })
    }
  }

  async function judge(item: Item): Promise<void> {
    const isWrite = item.kind === 'tool'
    const who = isWrite ? pick(agents, caller) : pick(approvers, caller)
    const chance = random()
    if (chance < 0.06) {
      const other = isWrite ? auditor : robot
      await say(other, item, { act: 'approve', refuse: 'wrong person' })
    } else if (chance < 0.1) {
      await say(who, item, { act: 'deny' })
    } else if (chance < 0.15 && !isWrite) {
      await say(who, item, { act: 'approve', refuse: 'stale' })
    } else if (chance < 0.25 && deadlineOf(item) !== undefined) {
      sayLate(item, () => say(who, item, { act: 'approve', refuse: 'late' }))
    } else if ((await say(who, item, { act: 'approve' })) === 'taken' && random() < 0.3) {
      await say(who, item, { act: 'approve', refuse: 'twice' })
    }
  }

  /** Speaks when the deadline is over; not at all where nobody here knows when that is, or that is far off. */
  function sayLate(item: Item, speak: () => Promise<unknown>): void {
    const waitMs = (deadlineOf(item) ?? Number.POSITIVE_INFINITY) + lateByMs - Date.now()
    if (mayGoOn === undefined || waitMs > longestWaitMs) return
    const one = sleep(Math.max(0, waitMs)).then(speak)
    const told = one
      .then(
        () => {},
        () => {},
      )
      .finally(() => late.delete(told))
    late.add(told)
  }

  async function round(): Promise<void> {
    const { items } = await as(pick(agents, caller)).listWaitingSteps({ limit: 100 })
    for (const item of items) {
      if (isStopping || random() > 0.3) continue
      if (item.step === 'asked' && mayGoOn === undefined) continue
      if (item.step === 'asked' && (await mayGoOn?.(item.executionId)) === false) continue
      await (item.kind === 'ask' ? answer(item) : judge(item))
    }
  }

  async function loop(): Promise<void> {
    while (!isStopping) {
      // The database may be away; then they come again.
      await round().catch(() => undefined)
      await sleep(20 + random() * 150)
    }
  }

  const looping = loop()
  return {
    async stop() {
      isStopping = true
      await looping
      await Promise.all(late)
    },
  }
}

type Place = Pick<Word, 'executionId' | 'step' | 'iteration'>

/** What says nothing about whether a word was taken: the run was carried on afterwards, and that went wrong. */
const unclear: ReadonlySet<string> = new Set([
  'DATABASE_UNAVAILABLE',
  'DATABASE_BUSY',
  'LEASE_LOST',
  'INTERNAL',
])

function shown({ asks }: Item, isStale: boolean): { readonly showHash?: string } {
  if (isStale) return { showHash: '0'.repeat(64) }
  const { showHash } = Object(asks)
  return typeof showHash === 'string' ? { showHash } : {}
}

function deadlineOf({ asks }: Item): number | undefined {
  const { deadline } = Object(asks)
  return typeof deadline === 'string' ? Date.parse(deadline) : undefined
}
