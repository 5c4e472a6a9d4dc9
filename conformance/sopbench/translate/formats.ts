const forms: readonly (readonly [string, string])[] = [
  ['YYYY', '[0-9]{4}'],
  ['MM-DD', '(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'],
  ['MM/DD', '(0[1-9]|1[0-2])/(0[1-9]|[12][0-9]|3[01])'],
  ['HH:MM', '([01][0-9]|2[0-3]):[0-5][0-9]'],
  ['SS', '[0-5][0-9]'],
]

/** `YYYY-MM-DD, optionally followed by a space or T and HH:MM or HH:MM:SS` as a regular expression. */
export function formatPattern(text: string): string | undefined {
  if (!/\b(YYYY|HH:MM)\b/.test(text)) return undefined
  const [main = '', tail] = text.split(/,? optionally followed by /)
  const written = (form: string) =>
    forms.reduce((sofar, [from, to]) => sofar.replace(from, to), form)
  if (!/^[YMDHS:/ T-]+$/.test(main)) return undefined
  if (tail === undefined) return written(main)
  const parts = /^a (space|blank) or T and ([HMS:]+)(?: or ([HMS:]+))?$/.exec(
    tail.trim().replace(/,$/, ''),
  )
  if (parts === null) return undefined
  const times = [parts[2], parts[3]].flatMap((form) => (form === undefined ? [] : [written(form)]))
  return `${written(main)}([ T](${times.join('|')}))?`
}
