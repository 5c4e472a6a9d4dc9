/** What is kept of the texts that a version was written as, in bytes of UTF-8. */
export const sourceLimits = { definition: 256 * 1024, scenarios: 1024 * 1024 } as const

/** All control characters but tabs and line ends: who shows a text must not be steered by it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

/** What keeps a text from being kept with a version, as the message of a problem; undefined when nothing does. */
export function findSourceProblem(
  text: string,
  kind: keyof typeof sourceLimits,
): string | undefined {
  const bytes = Buffer.byteLength(text)
  const limit = sourceLimits[kind]
  if (bytes > limit) {
    return `has ${bytes} bytes, and the limit is ${limit}, comments included; shorten it`
  }
  const code = control.exec(text)?.[0].codePointAt(0)
  if (code === undefined) return undefined
  const name = code.toString(16).toUpperCase().padStart(4, '0')
  return `has the control character U+${name}; remove it, or write it as an escape in double quotes`
}
