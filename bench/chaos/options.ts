import { parseArgs } from 'node:util'

/** What is done to the workers. */
export interface ChaosOptions {
  readonly kills: number
  readonly seed: number
  /** Worker processes at a time. */
  readonly workers: number
  /** How long a worker that is killed at random lives at most. */
  readonly livesMs: number
  readonly freezes: number
  readonly cuts: number
  /** How often the server itself is restarted as after a crash. */
  readonly restarts: number
  /** How often the disk of the server is full for some seconds. */
  readonly fullDisks: number
  /** Runs that kill whoever works on them. */
  readonly poison: number
  readonly replacements: number
  readonly clockOffMs: number
  readonly json: boolean
}

export const usage = `Kills workers with SIGKILL while they carry runs out and people speak to these, and counts what came of it
(docs/performance.md).

  npm run chaos -- [options]

  --kills N          workers killed, half at random moments, half at each boundary in turn   default 100
  --seed S           the same seed disturbs in the same way                                  default 1
  --workers N        worker processes at a time                                              default 3
  --lives MS         how long a worker lives at most, once it is at work                     default 1500
  --freezes N        workers that are stopped for 17 s and let go                            default 1
  --cuts N           how often all connections to the database are cut                       default 3
  --restarts N       how often the server is restarted, in the manner of a crash             default 0
  --full-disks N     how often the disk of the server is full for 4 s: in turn with room
                     in its log of changes, and without                                      default 0
  --poison N         runs that kill whoever works on them                                    default 2
  --replacements N   how often one worker alone is killed and replaced                       default 3
  --clock MS         how far the clocks of workers are off, and jump                         default 2000
  --json             one JSON object on standard output, progress on standard error
  --help             this text

TEST_DATABASE_URL names a PostgreSQL 15 or newer with pgvector, as a superuser; a database of its own is made there and
dropped. --restarts and --full-disks need the folder of that server in TEST_DATABASE_DIR as well, as .ci/postgres prints
it; --full-disks needs it on a small disk of its own. Exit codes: 0 nothing was lost and nothing done twice, 4 something was, 1 it could not be tried.`

/** Reads the command line: the options, `help`, or every problem of it. */
export function readOptions(
  args: readonly string[],
): ChaosOptions | 'help' | { readonly problems: readonly string[] } {
  const problems: string[] = []
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({
      args: [...args],
      options: {
        ...Object.fromEntries(
          Object.entries(defaults).map(([name, [value]]) => [
            name,
            { type: 'string' as const, default: String(value) },
          ]),
        ),
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] }
  }
  if (values.help === true) return 'help'
  const number = (name: keyof typeof defaults): number => {
    const [, min, max] = defaults[name]
    const text = String(values[name])
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      problems.push(`--${name}: found '${text}', expected a whole number from ${min} to ${max}`)
    }
    return value
  }
  const options = {
    kills: number('kills'),
    seed: number('seed'),
    workers: number('workers'),
    livesMs: number('lives'),
    freezes: number('freezes'),
    cuts: number('cuts'),
    restarts: number('restarts'),
    fullDisks: number('full-disks'),
    poison: number('poison'),
    replacements: number('replacements'),
    clockOffMs: number('clock'),
    json: values.json === true,
  }
  return problems.length > 0 ? { problems } : options
}

/** Default, least and most. */
const defaults = {
  kills: [100, 0, 100_000],
  seed: [1, 0, 2 ** 31],
  workers: [3, 1, 16],
  lives: [1_500, 100, 60_000],
  freezes: [1, 0, 1_000],
  cuts: [3, 0, 10_000],
  restarts: [0, 0, 1_000],
  'full-disks': [0, 0, 1_000],
  poison: [2, 0, 100],
  replacements: [3, 0, 1_000],
  clock: [2_000, 0, 3_600_000],
} as const satisfies Readonly<Record<string, readonly [number, number, number]>>
