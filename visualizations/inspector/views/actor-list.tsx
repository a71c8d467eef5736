import { Lamp } from '../../dashboard/views/lever.tsx'
import type { Actor, Actors } from '../actors.ts'
import { inWords, toneOf } from '../chart-states.ts'

/** Everybody who lives, and the chains that ended last. */
export function ActorList({ actors }: { readonly actors: Actors }) {
  const { value: wanted } = actors.wanted
  const { value: unshown } = actors.unshown
  const { value: untold } = actors.untold
  return (
    <nav class="actors" aria-label="Actors">
      <label class="field">
        <span class="unseen">Find actors by name or state</span>
        <input
          type="search"
          placeholder="name or state"
          value={actors.filter}
          onInput={(event) => (actors.filter.value = event.currentTarget.value)}
        />
      </label>
      <p class="hint">
        {wanted.length} of {actors.all.value.length}
        {unshown > 0 && `; ${unshown} more chains are under way than are shown`}
        {untold > 0 && `; ${untold} events came too fast to be shown`}
      </p>
      {/* apart from the others, which would be pushed about by those that come and go */}
      <Lines label="Supervisor and breakers" of={wanted.filter((actor) => !isChain(actor))} actors={actors} />
      <h2>Chains</h2>
      <Lines label="Chains" of={wanted.filter(isChain)} actors={actors} />
    </nav>
  )
}

const isChain = ({ told }: Actor) => told.machine === 'chain'

interface LinesProps {
  readonly label: string
  readonly of: readonly Actor[]
  readonly actors: Actors
}

function Lines({ label, of, actors }: LinesProps) {
  return (
    <ul aria-label={label}>
      {of.map((actor) => (
        <Line key={actor.told.id} actor={actor} actors={actors} />
      ))}
    </ul>
  )
}

interface LineProps {
  readonly actor: Actor
  readonly actors: Actors
}

function Line({ actor, actors }: LineProps) {
  const { told, snapshot, ended } = actor
  const isChosen = actors.chosen.value === actor
  return (
    <li data-ended={ended.value} data-state={toneOf(told.machine, snapshot.value)}>
      <button type="button" aria-current={isChosen ? 'true' : undefined} onClick={() => actors.choose(actor)}>
        <Lamp state={toneOf(told.machine, snapshot.value)} />
        <bdi class="actor-name">{told.name}</bdi>
        <span class="actor-state">
          {inWords(snapshot.value.value)}
          {ended.value && told.machine !== 'chain' && ', ended'}
        </span>
      </button>
    </li>
  )
}
