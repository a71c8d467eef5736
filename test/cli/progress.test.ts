import { expect, it } from 'vitest'
import { bar, showWork, withProgress } from '../../src/cli/progress.ts'

function screen(isTTY: boolean) {
  let shown = ''
  return { isTTY, write: (text: string) => (shown += text), shown: () => shown }
}

it('what takes its time is said on a terminal, each in the place of the one before, and nowhere else', () => {
  const [terminal, file] = [screen(true), screen(false)]
  for (const one of [terminal, file]) {
    showWork('a (1 of 2) …', one)
    showWork('b (2 of 2) …', one)
    showWork('', one)
  }
  expect(terminal.shown()).toBe('\r\u001B[Ka (1 of 2) …\r\u001B[Kb (2 of 2) …\r\u001B[K')
  expect(file.shown()).toBe('')
})

it('a bar is as full as the work is done, and is gone afterwards', async () => {
  const terminal = screen(true)
  let done = 0
  const whole = await withProgress(
    () => ++done < 4,
    () => ({ done, all: 4 }),
    terminal,
  )
  expect([whole, done]).toEqual([true, 4])
  expect(terminal.shown()).toContain(bar({ done: 1, all: 4 }))
  expect(terminal.shown().endsWith('\r\u001B[K')).toBe(true)
  expect(bar({ done: 1, all: 4 })).toMatch(/^█{6}░{18}\s+25 %/)
  expect(bar({ done: 0, all: 0 })).toContain('100 %')
})
