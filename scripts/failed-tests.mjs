// Which tests to run once more: failed-tests.mjs EVENTS...
//
// EVENTS are files of `go test -json` events. Prints a line a package: its path and a pattern of its failed tests. It ends
// with 1 where running again says nothing: a package died, a course that chance decides failed, more than `most` tests
// failed, or none did.
import { readFileSync } from 'node:fs'

const failed = new Map() // package: its failed tests
const chance = new Set() // tests that print a seed
for (const file of process.argv.slice(2)) {
  for (const line of readFileSync(file, 'utf8').split('\n').filter((l) => l.startsWith('{'))) {
    const { Action, Package, Test, Output } = JSON.parse(line)
    const top = Test?.split('/')[0]
    if (Action === 'output' && Output.includes('GATEWAYD_SEED=')) chance.add(`${Package} ${top}`)
    if (Action !== 'fail') continue
    const tests = failed.get(Package) ?? new Set()
    if (top) tests.add(top)
    failed.set(Package, tests)
  }
}
const most = 4
const count = [...failed.values()].reduce((sum, tests) => sum + tests.size, 0)
if (count === 0 || count > most) process.exit(1)
for (const [name, tests] of failed) {
  if (tests.size === 0 || [...tests].some((test) => chance.has(`${name} ${test}`))) process.exit(1)
  console.log(`${name} ^(${[...tests].join('|')})$`)
}
