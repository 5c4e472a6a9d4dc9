/** The longest that a request for a run waits for it, in seconds; and what it waits when it does not say. */
const maxWaitSeconds = 60
const defaultWaitSeconds = 30

/** What a client wants of a request that starts a run, by its `Prefer` header (RFC 7240). */
export interface Preference {
  readonly waitMs: number
  /** For `Preference-Applied`; undefined when the request did not ask. */
  readonly applied?: string
}

/** Reads `Prefer: wait=N` (0 to 60 s) and `Prefer: respond-async`. What is not understood counts as not said. */
export function readPreference(header: string | readonly string[] | undefined): Preference {
  const wishes = [header ?? []]
    .flat()
    .join(',')
    .split(/[,;]/)
    .map((wish) => wish.trim().toLowerCase())
  if (wishes.includes('respond-async')) return { waitMs: 0, applied: 'respond-async' }
  const [, digits] =
    wishes.map((wish) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(wish)).find(Boolean) ?? []
  if (digits === undefined) return { waitMs: defaultWaitSeconds * 1000 }
  const seconds = Math.min(Number(digits), maxWaitSeconds)
  return { waitMs: seconds * 1000, applied: `wait=${seconds}` }
}

/** What a start came to in the time that the client waits. */
export type Started<T> =
  | { readonly kind: 'done'; readonly output: T }
  /** It goes on here, and its record is there. */
  | { readonly kind: 'going'; readonly executionId: string; readonly done: Promise<unknown> }

/**
 * Waits for a start to be done, `waitMs` at most, and then until it is stored at least: whatever is answered is there.
 * `begin` is given the function that is told of the id.
 */
export async function startWithin<T>(
  waitMs: number,
  begin: (onStarted: (executionId: string) => void) => Promise<T>,
): Promise<Started<T>> {
  let tell: (executionId: string) => void = () => {}
  const stored = new Promise<string>((resolve) => {
    tell = resolve
  })
  const work = begin(tell)
  const done = work.then((output) => ({ kind: 'done', output }) as const)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    // Not even until the next turn, which an embedded database may keep from coming.
    if (waitMs === 0) resolve()
    else timer = setTimeout(resolve, waitMs)
  })
  const going = late
    .then(() => stored)
    .then((executionId) => ({ kind: 'going', executionId, done: work }) as const)
  try {
    return await Promise.race([done, going])
  } finally {
    clearTimeout(timer)
  }
}
