import { inspect } from 'node:util'

/** A value that is never printed: not in a log, a JSON document, an error or a debugger's listing. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself, for the one place that sends it. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/** The secret that a variable of the environment holds, or undefined when it is unset or empty. */
export function findSecret(
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Secret | undefined {
  const value = environment[name]
  return value === undefined || value === '' ? undefined : new Secret(value)
}
