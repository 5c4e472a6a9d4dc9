import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Stepwarden } from '../../src/library.ts'
import type { ChaosOptions } from './options.ts'
import { orderOf } from './playbooks.ts'
import { randomOf } from './random.ts'
import type { Admin, Server } from './server.ts'
import type { WorkerOrder } from './worker.ts'

/** What was done to the workers and the database, and how long the runs took to recover from it. */
export interface Disturbances {
  /** By where the worker was: `random`, or the boundary at which it killed itself. */
  readonly kills: Readonly<Record<string, number>>
  readonly freezes: number
  readonly cuts: number
  /** How long each restart of the server took until it answered, in milliseconds. */
  readonly restartMs: readonly number[]
  /** The disk full: how often, how often data could not grow, and how often the server crashed over it. */
  readonly fullDisks: {
    readonly count: number
    readonly refused: number
    readonly crashed: number
  }
  /** From when the server answered again until a run had ended: milliseconds. */
  readonly goOnMs: readonly number[]
  /** Workers that could not begin, because the server was away, and were started again. */
  readonly notStarted: number
  /** Workers that ended, though nobody had ended them. */
  readonly died: number
  /** What went wrong in workers though nothing was wrong with the database, by their log of errors. */
  readonly failures: number
  /** For each run that a killed worker had, while others were killed as well: milliseconds until it had ended. */
  readonly amidKillsMs: readonly number[]
  /** One of two workers killed: milliseconds until all that it had in flight had ended with the other. */
  readonly takeOverMs: readonly number[]
  /** The only worker killed and replaced: the same, from the start of the new process. */
  readonly replacementMs: readonly number[]
}

const boundaries = ['before_commit', 'after_commit', 'before_call', 'after_call']
/** Beside this file, and in the same language: it is compiled with it. */
const workerFile = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url))
/** A frozen worker is let go after its lease of 15 s is over. */
const freezeMs = 17_000
/** Runs that are to be worked on at any time, so that each worker always has some. */
const queueLength = 60
/** With those that wait for people, times and each other. */
const mostOpen = 160
/** What is left at last has come to a halt when nothing of it ends, or begins a step, for this long. */
const haltsAfterMs = 60_000

type CommonOrder = Pick<WorkerOrder, 'url' | 'worldFile' | 'wordsFile'>

interface WorkerProcess {
  readonly child: ChildProcess
  /** Whether it has come to work. */
  readonly ready: Promise<boolean>
  /** Resolves with what it printed last. */
  readonly ended: Promise<string>
}

function startWorker(order: WorkerOrder, onFailure: (line: string) => void): WorkerProcess {
  const child = spawn(process.execPath, [...process.execArgv, workerFile, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!line.startsWith('{')) console.error(line)
    else if (isFailure(line)) onFailure(line)
  })
  let output = ''
  const ready = new Promise<boolean>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes('ready')) resolve(true)
    })
  })
  const ended = once(child, 'close').then(() => output.trim().split('\n').at(-1) ?? '')
  return { child, ready: Promise.race([ready, ended.then(() => false)]), ended }
}

/** Of what is foreseen, a database that is away above all, the log holds no stack. One that is killed may not end its line. */
function isFailure(line: string): boolean {
  try {
    const { err } = JSON.parse(line)
    return err === undefined || err.stack !== undefined
  } catch {
    return false
  }
}

/** Disturbs workers and database as the options say, while `submit` keeps work coming; ends when all runs have ended. */
export async function conduct(
  options: ChaosOptions,
  admin: Admin,
  server: Server | undefined,
  client: ReturnType<Stepwarden['as']>,
  order: CommonOrder,
  progress: (line: string) => void,
): Promise<Disturbances> {
  const random = randomOf(options.seed)
  const kills: Record<string, number> = {}
  const amidKillsMs: number[] = []
  let killed = 0
  let freezes = 0
  let cuts = 0
  const restartMs: number[] = []
  const fullDisks = { count: 0, refused: 0, crashed: 0 }
  const goOnMs: number[] = []
  let notStarted = 0
  let died = 0
  let failures = 0
  let isDisturbing = true
  let submitted = 0
  let isSubmitting = true

  const count = async (text: string, values: unknown[] = []): Promise<number> => {
    const { rows } = await admin.query<{ n: number }>(`SELECT count(*)::int AS n ${text}`, values)
    return rows[0]?.n ?? 0
  }
  const start = (more: Omit<WorkerOrder, keyof CommonOrder>): WorkerProcess =>
    startWorker({ ...order, ...more }, (line) => {
      failures += 1
      progress(`a worker failed: ${line}`)
    })
  const open = () => count('FROM executions WHERE ended_at IS NULL')

  /** A worker that has come to work: one that finds the server away is started anew. */
  async function workerAtWork(more: Omit<WorkerOrder, keyof CommonOrder>): Promise<WorkerProcess> {
    for (let tries = 0; tries < 200; tries++) {
      const worker = start(more)
      if (await worker.ready) {
        void worker.ended.then(() => {
          if (!worker.child.killed && worker.child.signalCode === null) died += 1
        })
        return worker
      }
      notStarted += 1
      await sleep(250)
    }
    throw new Error('no worker comes to work; what they printed is above')
  }

  async function submitAll(): Promise<void> {
    while (isSubmitting) {
      // Without those that are to be tried alone, which may have to wait for that.
      const isToBeDone = "status IN ('pending', 'running') AND take_over_count < 2"
      const queued = await count(`FROM executions WHERE ${isToBeDone}`)
      const wanted = Math.min(queueLength - queued, mostOpen - (await open()))
      for (let index = 0; index < wanted; index++) {
        submitted += 1
        const { input, ...order } = orderOf(submitted, options.poison)
        await client
          .startExecution({
            ...order,
            input: { ...input } as never,
            // Of each kind of run some are committed step by step.
            durability: Math.floor(submitted / 10) % 2 === 0 ? 'step' : 'effect',
            idempotencyKey: `chaos-${submitted}`,
            detach: true,
          })
          // A connection that was cut says nothing of the commit: the same key asks again.
          .catch(() => {
            submitted -= 1
          })
      }
      await sleep(20)
    }
  }

  /** One place of a worker: a process that is disturbed, and replaced, until there were enough kills. */
  async function keepWorker(place: number): Promise<void> {
    while (killed < options.kills) {
      killed += 1
      const number = killed
      const atBoundary = number % 2 === 0
      const boundary = boundaries[(number / 2) % boundaries.length] ?? 'before_call'
      const worker = await workerAtWork({
        seed: options.seed + number,
        concurrency: 8,
        clockOffMs: options.clockOffMs * (place % 2 === 0 ? 1 : -1),
        ...(atBoundary && { dieAt: { boundary, count: 1 + Math.floor(random() * 40) } }),
      })
      if (!atBoundary) {
        await sleep(random() * options.livesMs)
        worker.child.kill('SIGKILL')
      }
      const last = await Promise.race([
        worker.ended,
        // One that has too little to do to come to its boundary is killed as well.
        sleep(4 * options.livesMs).then(() => {
          worker.child.kill('SIGKILL')
          return worker.ended
        }),
      ])
      const how = last.startsWith('dies at') ? boundary : 'random'
      kills[how] = (kills[how] ?? 0) + 1
      if (number % 20 === 0) progress(`${number} of ${options.kills} workers killed`)
    }
    // What else is done is done to workers as well.
    for (let number = 1; isDisturbing; number++) {
      const seed = options.seed + 3_000_000 + 1_000 * place + number
      const worker = await workerAtWork({ seed, concurrency: 8, clockOffMs: options.clockOffMs })
      await Promise.race([worker.ended, others])
      worker.child.kill('SIGTERM')
      await worker.ended
    }
  }

  /** How long the runs of dead workers take that wait for nobody: looked for once in a while, since looking costs as well. */
  async function watchTakeOvers(): Promise<void> {
    const worked = new Map<string, number>()
    while (isSubmitting) {
      const { rows } = await admin.query<{ id: string }>(
        `SELECT e.id FROM executions e
         WHERE e.status = 'running' AND e.worker_id IS NOT NULL AND e.mode = 'automatic'
           AND e.procedure_key IN ('CHAOS_REPEATABLE', 'CHAOS_UNREPEATABLE') AND NOT EXISTS (
           SELECT FROM workers w JOIN pg_locks l ON l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
             AND l.classid::bigint = w.lock_key >> 32 AND l.objid::bigint = w.lock_key & 4294967295
           WHERE w.id = e.worker_id)`,
      )
      const now = performance.now()
      for (const { id } of rows) if (!worked.has(id)) worked.set(id, now)
      const ended = await admin.query<{ id: string }>(
        'SELECT id FROM executions WHERE id = ANY ($1) AND ended_at IS NOT NULL',
        [[...worked.keys()]],
      )
      for (const { id } of ended.rows) {
        amidKillsMs.push(now - (worked.get(id) ?? now))
        worked.delete(id)
      }
      await sleep(50)
    }
  }

  /** One worker more, which is frozen for longer than its lease, and let go again. */
  async function freezeWorkers(): Promise<void> {
    while (freezes < options.freezes) {
      const seed = options.seed + 1_000_000 + freezes
      const worker = await workerAtWork({ seed, concurrency: 8, clockOffMs: 0 })
      await sleep(500)
      worker.child.kill('SIGSTOP')
      await sleep(freezeMs)
      worker.child.kill('SIGCONT')
      await sleep(2_000)
      worker.child.kill('SIGTERM')
      await worker.ended
      freezes += 1
      progress(`${freezes} of ${options.freezes} workers frozen and let go`)
    }
  }

  async function cutConnections(): Promise<void> {
    while (cuts < options.cuts) {
      await sleep(options.livesMs * (0.5 + random()))
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
      cuts += 1
      progress(`${cuts} of ${options.cuts} times all connections cut`)
    }
  }

  /** One thing after the other: a server whose disk is full cannot be restarted. */
  async function disturbServer(): Promise<void> {
    while (restartMs.length < options.restarts || fullDisks.count < options.fullDisks) {
      if (restartMs.length < options.restarts) {
        await sleep(options.livesMs * (0.5 + random()))
        const startedAt = performance.now()
        await server?.restart()
        restartMs.push(performance.now() - startedAt)
        await noteGoingOn()
        progress(`${restartMs.length} of ${options.restarts} times the server restarted`)
      }
      if (fullDisks.count < options.fullDisks) {
        await sleep(options.livesMs * (0.5 + random()))
        fullDisks.count += 1
        const seen = await server?.fillDisk(fullDisks.count % 2 === 0)
        if (seen?.refused) fullDisks.refused += 1
        if (seen?.crashed) fullDisks.crashed += 1
        await noteGoingOn()
        progress(`${fullDisks.count} of ${options.fullDisks} times the disk full`)
      }
    }
  }

  async function noteGoingOn(): Promise<void> {
    const startedAt = performance.now()
    const ended = () => count('FROM executions WHERE ended_at IS NOT NULL')
    const before = await ended()
    while ((await ended()) === before) await sleep(20)
    goOnMs.push(performance.now() - startedAt)
  }

  const submitting = submitAll()
  const watching = watchTakeOvers()
  const others = Promise.all([freezeWorkers(), cutConnections(), disturbServer()]).finally(() => {
    isDisturbing = false
  })
  await Promise.all([
    ...Array.from({ length: options.workers }, (_, place) => keepWorker(place)),
    others,
  ])
  isSubmitting = false
  await Promise.all([submitting, watching])
  progress('no more disturbances: waiting for what is left')
  await workOffAll()
  const takeOverMs: number[] = []
  const replacementMs: number[] = []
  // Recoveries are of runs that nothing else holds up.
  const isQuiet = (await open()) === 0
  for (let round = 0; isQuiet && round < options.replacements; round++) {
    takeOverMs.push(await recover(round, true))
    replacementMs.push(await recover(round, false))
  }
  return {
    kills,
    freezes,
    cuts,
    restartMs,
    fullDisks,
    goOnMs,
    notStarted,
    died,
    failures,
    amidKillsMs,
    takeOverMs,
    replacementMs,
  }

  async function workOffAll(): Promise<void> {
    const worker = start({ seed: options.seed, concurrency: 8, clockOffMs: 0 })
    const alive = () => worker.child.exitCode === null && worker.child.signalCode === null
    let seen = ''
    let seenAt = performance.now()
    while ((await open()) > 0 && alive() && performance.now() - seenAt < haltsAfterMs) {
      await sleep(50)
      const { rows } = await admin.query<{ now: string }>(
        `SELECT count(*) || ' ' || coalesce(max(s.ordinal), 0) || ' ' || count(s.ordinal) AS now
         FROM executions e LEFT JOIN step_executions s ON s.tenant_id = e.tenant_id AND s.execution_id = e.id
         WHERE e.ended_at IS NULL`,
      )
      const now = rows[0]?.now ?? ''
      if (now !== seen) seenAt = performance.now()
      seen = now
    }
    const hasHalted = alive() && (await open()) > 0
    worker.child.kill('SIGTERM')
    await worker.ended
    if (hasHalted) return progress('what is left goes on no more')
    // A run that kills whoever works on it has killed this one too.
    if ((await open()) > 0) await workOffAll()
  }

  /** Kills a worker with eight runs in flight, with another one beside it or replaced at once. */
  async function recover(round: number, isBeside: boolean): Promise<number> {
    const startOne = (more: number) => {
      const seed = options.seed + 2_000_000 + 10 * round + more
      return start({ seed, concurrency: 8, clockOffMs: 0 })
    }
    const first = startOne(0)
    const beside = isBeside ? startOne(1) : undefined
    await Promise.all([first.ready, beside?.ready])
    // Those of the first lot may all have ended before eight of them are seen at work at once.
    for (let lot = 0; (await count(`FROM executions WHERE status = 'running'`)) < 8; lot++) {
      for (let index = 0; index < (isBeside ? 16 : 8); index++) {
        await client.startExecution({
          procedureKey: 'CHAOS_REPEATABLE',
          input: { customerId: `alone-${round}-${lot}-${index}` },
          detach: true,
        })
      }
      for (let tries = 0; tries < 100 && (await open()) > 0; tries++) {
        if ((await count(`FROM executions WHERE status = 'running'`)) >= 8) break
        await sleep(2)
      }
    }
    first.child.kill('SIGKILL')
    await first.ended
    const startedAt = performance.now()
    const second = beside ?? startOne(1)
    while ((await open()) > 0) await sleep(10)
    const ms = performance.now() - startedAt
    second.child.kill('SIGTERM')
    await second.ended
    return ms
  }
}
