export interface ServerEvent {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer from outside
  readonly data: any
}

/** Reads a stream of server-sent events until the server ends it. */
export async function readEvents(
  url: string,
  {
    key,
    headers = {},
    onEvent,
    signal,
  }: {
    readonly key: string
    readonly headers?: Readonly<Record<string, string>>
    readonly onEvent?: (event: ServerEvent) => void
    readonly signal?: AbortSignal
  },
): Promise<readonly ServerEvent[]> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(signal !== undefined && { signal }),
  })
  if (response.status === 204) return []
  if (!response.ok || response.body === null) throw new Error(`answered ${response.status}`)
  const events: ServerEvent[] = []
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => {
          const at = line.indexOf(': ')
          return [line.slice(0, at), line.slice(at + 2)] as const
        }),
      )
      const data = fields.get('data')
      if (data === undefined) continue
      const event = {
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: JSON.parse(data),
      }
      events.push(event)
      onEvent?.(event)
    }
  }
  return events
}
