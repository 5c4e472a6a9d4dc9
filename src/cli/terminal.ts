import { styleText } from 'node:util'
import { sliceToWidth, textWidth } from './text-width.ts'

/** What a text means to its reader; how that looks is decided here alone. */
export type Tone = 'heading' | 'good' | 'bad' | 'care' | 'quiet' | 'name'

const formats = {
  heading: 'bold',
  good: 'green',
  bad: 'red',
  care: 'yellow',
  quiet: 'dim',
  name: 'cyan',
} as const satisfies Record<Tone, Parameters<typeof styleText>[0]>

/** The part of a stream that is needed to write to it. */
export interface Sink {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly destroyed?: boolean
  write(text: string): unknown
  once?(event: 'drain' | 'close' | 'error', listener: () => void): unknown
}

export interface TerminalOptions {
  readonly out: Sink
  readonly err: Sink
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Machines read: people's screens are left out, and answers are JSON. */
  readonly json: boolean
}

/**
 * Where answers go. Texts of customers and tools are shown in it, so it makes control characters visible and lets none
 * of them through: a ticket cannot move the cursor, set a title or hide what stands before it.
 */
export class Terminal {
  readonly json: boolean
  /** Columns of the terminal; infinite where none is: a pipe gets whole lines. */
  readonly width: number
  readonly #out: Sink
  readonly #err: Sink
  readonly #coloured: boolean

  constructor({ out, err, environment, json }: TerminalOptions) {
    this.#out = out
    this.#err = err
    this.json = json
    this.width = out.isTTY === true ? Math.max(40, out.columns ?? 80) : Number.POSITIVE_INFINITY
    this.#coloured = isColoured(out, environment)
  }

  /** The text in the colours of its tone, where there are colours. */
  style(tone: Tone, text: string): string {
    if (!this.#coloured || text === '') return text
    // What this terminal has decided holds, whatever the stream of the process is.
    return styleText(formats[tone], text, { validateStream: false })
  }

  /** Shows lines to people; nothing with `--json`. */
  print(text: string): void {
    if (!this.json) this.#out.write(`${this.#clean(text)}\n`)
  }

  /** Writes the one JSON value that is the answer. */
  printJson(value: unknown): void {
    this.#out.write(`${JSON.stringify(value, null, 2)}\n`)
  }

  /** Writes a document as it is, to be redirected to a file; with `--json` nothing. */
  printRaw(text: string): void {
    if (!this.json) this.#out.write(text)
  }

  /**
   * Writes a part of a long text as it is, whatever the form of answers, and resolves when there is room for the next;
   * false when nobody reads any more.
   */
  async printStream(text: string): Promise<boolean> {
    const out = this.#out
    if (isClosed(out)) return false
    if (out.write(text) === false) {
      await new Promise<void>((resolve) => {
        if (out.once === undefined) return resolve()
        for (const event of ['drain', 'close', 'error'] as const) out.once(event, resolve)
      })
    }
    return !isClosed(out)
  }

  /** Says something beside the answer, on standard error. */
  notice(text: string): void {
    this.#err.write(`${this.#clean(text)}\n`)
  }

  /** Writes the one JSON object that says what went wrong: the last line on standard error. */
  noticeJson(value: unknown): void {
    this.#err.write(`${JSON.stringify(value)}\n`)
  }

  /** Lays a text out in lines of the terminal, all but the first indented by `indent` columns. */
  wrap(text: string, indent: number): string {
    const room = this.width - indent
    if (!Number.isFinite(room) || room < 20) return text.replaceAll('\n', `\n${' '.repeat(indent)}`)
    return text
      .split('\n')
      .flatMap((line) => wrapLine(line, room))
      .join(`\n${' '.repeat(indent)}`)
  }

  #clean(text: string): string {
    return text.replaceAll(controls, (found) =>
      this.#coloured && ownStyles.test(found) ? found : visible(found),
    )
  }
}

function isClosed({ destroyed }: Sink): boolean {
  return destroyed === true
}

function isColoured(out: Sink, environment: TerminalOptions['environment']): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0'
  return out.isTTY === true && TERM !== 'dumb'
}

// A style as `styleText` writes it, or one control character; line ends stay. The last group are the marks that turn
// the direction of text around, with which one id can be made to look like another.
const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /\u001b\[\d+m|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]|\p{Cf}/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: the styles that `formats` open and close
const ownStyles = /^\u001b\[(?:[12]|22|3[1236]|39)m$/

function visible(control: string): string {
  if (control === '\t') return '  '
  return [...control]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0
      return code < 32 || code > 126 ? `\\u${code.toString(16).padStart(4, '0')}` : character
    })
    .join('')
}

function wrapLine(line: string, room: number): readonly string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?<= )/)) {
    if (textWidth(current) + textWidth(word.trimEnd()) <= room) {
      current += word
      continue
    }
    if (current !== '') lines.push(current.trimEnd())
    current = word
    while (textWidth(current.trimEnd()) > room) {
      const head = sliceToWidth(current, room)
      lines.push(head)
      current = current.slice(head.length)
    }
  }
  return [...lines, current.trimEnd()]
}
