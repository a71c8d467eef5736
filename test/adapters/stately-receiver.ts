/** What the Stately inspector does, as far as its package shows it: listens to whoever has opened or framed it. */
import { createBrowserReceiver } from '@statelyai/inspect'

const told: unknown[] = []
Object.assign(globalThis, { told })
createBrowserReceiver().subscribe((event) => told.push(event))
