import { describe, expect, it } from 'vitest'

import { ORDERS, arrange } from '../../visualizations/dashboard/board-order.ts'
import type { Choice } from '../../visualizations/dashboard/board-order.ts'
import { circuit } from './fake-admin.ts'

const hold = { by: 'alice', reason: 'maintenance', until: null }
const board = [
  circuit('flowing', { p95Ms: 20, refused: 1, since: 5 }),
  circuit('failing', { failures: { timeout: 2 }, p95Ms: 900, since: 4 }),
  circuit('kept closed', { held: true, hold, since: 6 }),
  circuit('near', { state: 'degraded', model: 'gpt-5', since: 3 }),
  circuit('kept open', { state: 'open', held: true, hold, since: 2 }),
  circuit('trying', { state: 'half-open', targets: ['azure'], since: 7 }),
  circuit('down', { state: 'open', failures: { server_error: 5 }, refused: 9, since: 1 }),
]
const names = (choice: Partial<Choice>, views = board) =>
  arrange(views, { shown: 'all', search: '', order: 'worst', ...choice }).map((view) => view.circuit)

describe('the order of the board', () => {
  it('shows the worst first: what refuses, what tries, what an operator holds, what fails', () => {
    expect(names({})).toEqual(['down', 'trying', 'kept open', 'near', 'kept closed', 'failing', 'flowing'])
  })

  it('shows what only would refuse after all that does, or tries', () => {
    const watched = circuit('watched', { state: 'open', observed: true })
    expect(names({}, [...board, watched]).slice(0, 5)).toEqual([
      'down',
      'trying',
      'kept open',
      'near',
      'watched',
    ])
  })

  it('never moves a module because a counter moved', () => {
    const busier = board.map((view) => ({ ...view, refused: view.refused * 7, late: 3, p95Ms: 1 }))
    expect(names({}, busier)).toEqual(names({}))
  })

  it('sorts by name, by the last change, by calls saved, by p95', () => {
    expect(names({ order: 'name' })).toEqual(board.map((view) => view.circuit).sort())
    expect(names({ order: 'changed' }).slice(0, 2)).toEqual(['trying', 'kept closed'])
    expect(names({ order: 'saved' }).slice(0, 2)).toEqual(['down', 'flowing'])
    expect(names({ order: 'slow' }).slice(0, 2)).toEqual(['failing', 'flowing'])
  })

  it('sorts equals by name, whatever the order and however they come in', () => {
    const equals = ['c', 'a', 'b'].map((name) => circuit(name, { since: 1 }))
    for (const order of ORDERS) expect(names({ order }, equals)).toEqual(['a', 'b', 'c'])
  })

  it('shows one state, or what is held', () => {
    expect(names({ shown: 'open' })).toEqual(['down', 'kept open'])
    expect(names({ shown: 'closed', order: 'name' })).toEqual(['failing', 'flowing', 'kept closed'])
    expect(names({ shown: 'held' })).toEqual(['kept open', 'kept closed'])
  })

  it('finds by name, target, model, kind and operator; every word must fit', () => {
    expect(names({ search: 'AZURE' })).toEqual(['trying'])
    expect(names({ search: 'gpt' })).toEqual(['near'])
    expect(names({ search: 'server_err' })).toEqual(['down'])
    expect(names({ search: ' alice  open ' })).toEqual(['kept open'])
    expect(names({ search: 'nobody' })).toEqual([])
  })
})
