import { judgeReplies } from '../test/support/replies.ts'

/**
 * How many generated replies the check of a reply lets through: none of those with a planted falsehood, all true ones in
 * the forms that a model is told, and none with a sentence in words of its own, which it cannot check.
 *
 * `npm run bench:replies -- [COUNT]`, 1,000 by default; half are true and half are false.
 */
const { truths, looseTruths, lies } = judgeReplies(Number(process.argv[2] ?? 1_000))
const passed = lies.filter(({ passes }) => passes)

console.log(`false replies: ${lies.length}, let through: ${passed.length}`)
report('true replies in the forms of the instructions', truths)
report('true replies with a sentence in words of its own', looseTruths)
for (const { draft } of passed) console.log(draft.map(({ text }) => text).join(' '))
process.exitCode = passed.length === 0 ? 0 : 1

function report(name: string, replies: typeof truths): void {
  const refused = replies.filter(({ passes }) => !passes).length
  const share = ((100 * refused) / replies.length).toFixed(1)
  console.log(`${name}: ${replies.length}, refused: ${refused} (${share} %)`)
}
