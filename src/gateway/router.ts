import type { Random } from '../core/clock.ts'
import { didYouMean } from '../core/validate.ts'
import type { CallRequest } from './call-request.ts'
import { ClientFault } from './client-fault.ts'
import type { Endpoint } from './endpoints.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import type { ResolvedGroup } from './config/resolve-groups.ts'
import type { Api, ResolvedTarget } from './config/resolve-target.ts'
import { chooseOrder } from './strategy.ts'
import type { Deployment } from './strategy.ts'
import type { Wishes } from './wishes.ts'

/** The way of one call. */
export interface Route {
  /** Whom to ask, in order; undefined = every target, as declared. */
  readonly targets: readonly string[] | undefined
  /** Whose turn it was. */
  readonly first: string
}

/** What a router needs to know of a target at the moment of a call. */
export interface Outlook {
  circuitOf(target: ResolvedTarget, model: string | undefined): Deployment['circuit']
  busy(target: string): number
}

/** The part of a group that speaks an API. */
interface Lane {
  readonly deployments: readonly ResolvedTarget[]
  readonly fallbacks: readonly string[]
  /** The way where nothing has to be chosen. */
  readonly fixed: Route | undefined
}

/** Any model that has no group of its own. */
const ANY = '*'

/** Finds the way of a call: its group, the deployments that speak its endpoint, and their order. */
export class Router {
  readonly #config: ResolvedConfig
  readonly #outlook: Outlook
  readonly #random: Random
  readonly #lanes = new Map<string, Lane>()
  readonly #turns = new Map<string, number>()

  constructor(config: ResolvedConfig, outlook: Outlook, random: Random) {
    this.#config = config
    this.#outlook = outlook
    this.#random = random
  }

  /** @throws ClientFault where there is no way */
  route({ endpoint, model }: CallRequest, wishes: Wishes): Route {
    if (wishes.target !== undefined) return this.#addressed(wishes.target, endpoint)
    const group = this.#groupOf(model)
    const lane = this.#laneOf(group, endpoint)
    if (lane.fixed !== undefined && !wishes.noFallback) return lane.fixed
    const order = this.#order(group, lane, model)
    const first = order[0]!
    // without groups whoever stands behind the first is its fallback
    if (wishes.noFallback) return { targets: this.#config.groups === undefined ? [first] : order, first }
    return { targets: [...order, ...lane.fallbacks], first }
  }

  #order(group: ResolvedGroup, { deployments, fixed }: Lane, model: string | undefined): readonly string[] {
    if (fixed !== undefined) return deployments.map(({ name }) => name)
    const turn = this.#turns.get(group.name) ?? 0
    this.#turns.set(group.name, (turn + 1) % Number.MAX_SAFE_INTEGER)
    const now = deployments.map((target) => ({
      name: target.name,
      weight: target.weight,
      busy: this.#outlook.busy(target.name),
      circuit: this.#outlook.circuitOf(target, model),
    }))
    return chooseOrder(group.strategy, now, { turn, roll: this.#random() })
  }

  #addressed(name: string, { api, path }: Endpoint): Route {
    const { targets } = this.#config
    const target = targets.find((one) => one.name === name)
    const param = 'x-switchgear-target'
    if (target === undefined) {
      const names = targets.map((one) => one.name)
      const shown = name.slice(0, MOST_SHOWN)
      throw new ClientFault(
        `x-switchgear-target: there is no target '${shown}'. ${guess(shown, names)}${listed(names)}`,
        {
          param,
        },
      )
    }
    if (target.api === api) return { targets: [name], first: name }
    throw new ClientFault(`'${name}' does not speak ${path}: its api is ${target.api}.`, { param })
  }

  #groupOf(model: string | undefined): ResolvedGroup {
    const { groups, targets } = this.#config
    if (groups === undefined) {
      return { name: '', targets: targets.map(({ name }) => name), strategy: 'ordered', fallbacks: [] }
    }
    const group = (model === undefined ? undefined : groups.get(model)) ?? groups.get(ANY)
    if (group !== undefined) return group
    const names = [...groups.keys()]
    if (model === undefined) throw new ClientFault(`model is missing. ${listed(names)}`, { param: 'model' })
    const name = model.slice(0, MOST_SHOWN)
    throw new ClientFault(`The model '${name}' does not exist here. ${guess(name, names)}${listed(names)}`, {
      status: 404,
      code: 'model_not_found',
      param: 'model',
    })
  }

  #laneOf(group: ResolvedGroup, endpoint: Endpoint): Lane {
    const key = `${endpoint.api} ${group.name}`
    let lane = this.#lanes.get(key)
    if (lane === undefined) this.#lanes.set(key, (lane = this.#lane(group, endpoint.api)))
    if (lane.deployments.length > 0) return lane
    const what = group.name === '' ? 'No target' : `No target of the model '${group.name}'`
    throw new ClientFault(`${what} speaks ${endpoint.path}: that takes a target with api: ${endpoint.api}.`, {
      status: 404,
      code: 'endpoint_not_served',
    })
  }

  #lane(group: ResolvedGroup, api: Api): Lane {
    const { targets, groups } = this.#config
    const speaking = new Map(
      targets.filter((target) => target.api === api).map((target) => [target.name, target]),
    )
    const own = group.targets.filter((name) => speaking.has(name))
    const others = group.fallbacks.filter((name) => speaking.has(name) && !own.includes(name))
    // where no deployment speaks the endpoint, a fallback may
    const [asked, fallbacks] = own.length > 0 ? [own, others] : [others, []]
    const deployments = asked.map((name) => speaking.get(name)!)
    const [first] = asked
    if (first === undefined) return { deployments, fallbacks, fixed: undefined }
    const isAll = groups === undefined && asked.length === targets.length
    const isFixed = deployments.length === 1 || (group.strategy === 'ordered' && !deployments.some(degrades))
    const fixed = isFixed ? { targets: isAll ? undefined : [...asked, ...fallbacks], first } : undefined
    return { deployments, fallbacks, fixed }
  }
}

const degrades = ({ core }: ResolvedTarget) =>
  typeof core.circuitBreaker === 'object' && core.circuitBreaker.degradation !== undefined

// a name of a client's own may be as long as a body
const MOST_SHOWN = 200
const MOST_LISTED = 50

function guess(name: string, names: readonly string[]): string {
  const hint = didYouMean(name, names)
  return hint.startsWith('Did') ? `${hint} ` : ''
}

const listed = (names: readonly string[]) =>
  `Known: ${names.slice(0, MOST_LISTED).join(', ')}${names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : ''}.`
