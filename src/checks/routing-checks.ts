import type { DefinitionCheck } from './check.ts'

const minPatterns = 4

/** Words that stand in any message, whatever it is about. */
const emptyWords = new Set(
  'a an and are as at be can cannot do does for from had has have help hello hi how i in is it me my need not of on or our please question the there this to want was we what when where why with you your'.split(
    ' ',
  ),
)

/** Checks what search and people find the playbook by. */
export function checkRouting(check: DefinitionCheck): void {
  const { issuePatterns = [], internal } = check.definition
  if (internal !== true) {
    const count = new Set(issuePatterns.map(folded)).size
    if (count < minPatterns) {
      const message = `${count === 1 ? '1 pattern' : `${count} patterns`}; with at least ${minPatterns} in customers' words search finds the playbook far more often`
      check.add('few-patterns', ['issuePatterns'], message)
    }
    for (const [index, pattern] of issuePatterns.entries()) {
      if (!isLoose(pattern)) continue
      const message = `'${pattern}' says too little: it stands in messages about anything; say what has happened, in at least two words`
      check.add('loose-pattern', ['issuePatterns', index], message)
    }
  }
  checkExamples(check)
}

/** One word is looked for in every ticket, word for word; one with a digit is a code that says enough. */
function isLoose(pattern: string): boolean {
  const words = folded(pattern).match(/[\p{L}\p{N}]+/gu) ?? []
  const telling = words.filter((word) => !emptyWords.has(word))
  return telling.length === 0 || (words.length === 1 && !/\p{N}/u.test(pattern))
}

/** Examples that are not for the playbook, by a text that it claims itself. */
function checkExamples(check: DefinitionCheck): void {
  const { issuePatterns = [], examples = {} } = check.definition
  const matching = new Set((examples.match ?? []).map(folded))
  // Shorter ones are not looked for word for word.
  const patterns = issuePatterns.filter((pattern) => [...folded(pattern)].length >= 4)
  for (const [index, example] of (examples.noMatch ?? []).entries()) {
    const text = folded(example)
    const pattern = patterns.find((one) => text.includes(folded(one)))
    const claim = matching.has(text)
      ? 'stands under examples.match as well'
      : pattern !== undefined && `holds the issue pattern '${pattern}' word for word`
    if (claim === false) continue
    const message = `an example of what this is not for ${claim}; take one of the two away`
    check.add('example-contradicted', ['examples', 'noMatch', index], message)
  }
}

/** Case, white space around it and forms of one character make no other text. */
function folded(text: string): string {
  return text.trim().normalize('NFC').toLowerCase()
}
