import { parseArgs } from 'node:util'

/** What a measurement is made of. */
export interface Measurement {
  /** How often each engine is measured with each number of clients. */
  readonly rounds: number
  /** How long one sample lasts. */
  readonly seconds: number
  /** Numbers of clients, each with as many connections. */
  readonly clients: readonly number[]
  /** Tenants that the service's executions go to in turn. */
  readonly tenants: number
  /** Finished executions that the tables are filled with before everything is measured once more; 0: it is not. */
  readonly history: number
}

export interface Options {
  readonly measurement: Measurement
  readonly json: boolean
}

export const usage = `How fast the executor is, as ratios to raw-b: hand-written SQL that is just safe (docs/performance.md).

  npm run bench -- [options]

  --rounds N     samples per engine and number of clients      default 5
  --seconds S    length of a sample                            default 2
  --c LIST       numbers of clients, each 1 to 64              default 1,8,32
  --tenants N    tenants that executions go to in turn         default 1
  --history N    then fill the tables with N finished executions of six steps
                 each (a million takes minutes), measure again and compare
  --json         one JSON object instead of tables
  --help         this text

TEST_DATABASE_URL names a PostgreSQL 15 or newer with pgvector, as a superuser; the bench makes a database of its own
there and drops it. A server just for this: eval "export $(.ci/postgres)"`

/** Reads the command line: the options, `help`, or every problem of it. */
export function readOptions(
  args: readonly string[],
): Options | 'help' | { readonly problems: readonly string[] } {
  let values: ReturnType<typeof parse>
  try {
    values = parse(args)
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] }
  }
  if (values.help === true) return 'help'
  const problems: string[] = []
  const number = (name: string, text: string, min: number, max: number, whole = true): number => {
    const value = Number(text)
    const fits = value >= min && value <= max && (!whole || Number.isInteger(value))
    if (!fits || text.trim() === '') {
      const expected = `a ${whole ? 'whole number' : 'number'} from ${min} to ${max}`
      problems.push(`--${name}: found '${text}', expected ${expected}`)
    }
    return value
  }
  const measurement: Measurement = {
    rounds: number('rounds', values.rounds, 1, 1_000),
    seconds: number('seconds', values.seconds, 0.1, 600, false),
    clients: [...new Set(values.c.split(',').map((text) => number('c', text, 1, 64)))],
    tenants: number('tenants', values.tenants, 1, 1_000),
    history: number('history', values.history, 0, 10_000_000),
  }
  return problems.length > 0 ? { problems } : { measurement, json: values.json === true }
}

function parse(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      c: { type: 'string', default: '1,8,32' },
      tenants: { type: 'string', default: '1' },
      history: { type: 'string', default: '0' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  return values
}
