import { operand, quote } from './term.ts'

/** Tests of a form that says a date: those of parts of it are the library's own. */
const dayForm = /^[YMD/. -]+$/
const timeForms: { readonly [form: string]: string } = {
  'HH:MM': '([01][0-9]|2[0-3]):[0-5][0-9]',
  'HH:MM:SS': '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]',
}

/**
 * Whether a text is in a form that a phrase tells: `YYYY-MM-DD, optionally followed by a space or T and HH:MM`, `a valid
 * date`. Undefined where the phrase tells no form.
 */
export function formTest(cel: string, phrase: string): string | undefined {
  const text = phrase.replace(/^(?:an? )?(?:(?:valid|real|existing|proper) )?/, '').trim()
  if (/^date(?: or date-time)?$/.test(text)) return `isDate(${cel})`
  const form = text
    .replace(/^(?:date|time|date-time|text) /, '')
    .replace(/^(?:in|of|with) (?:the )?(?:form|format) /, '')
  const [main = '', tail] = form.split(/,? optionally followed by /)
  const time = timeForms[main]
  if (time !== undefined && tail === undefined) return `${operand(cel)}.matches(${quote(time)})`
  if (!dayForm.test(main) || !/YYYY/.test(main)) return undefined
  const forms = [main, ...tailsOf(tail).map((end) => `${main}${end}`)]
  if (tail !== undefined && forms.length === 1) return undefined
  return forms.map((one) => `isDate(${cel}, ${quote(formOf(one))})`).join(' || ')
}

/** `a space or T and HH:MM or HH:MM:SS`: every way to go on. */
function tailsOf(tail: string | undefined): readonly string[] {
  const parts = /^a (?:space|blank) or T and ([HMS:]+)(?: or ([HMS:]+))?$/.exec(
    tail?.trim().replace(/,$/, '') ?? '',
  )
  const times =
    parts === null ? [] : [parts[1] ?? '', ...(parts[2] === undefined ? [] : [parts[2]])]
  return times.flatMap((time) => [` ${time}`, `T${time}`])
}

/** A form as the library writes it, where minutes and months are told apart. */
function formOf(form: string): string {
  return form.replace(/HH:MM/, 'HH:mm').replace(/:SS/, ':ss')
}
